#!/usr/bin/env python3
"""Makes the demo's works: `local/demo/make.py` draws all of them, `local/demo/make.py fog-signal` those that it names.

They are drawn from fixed seeds. Compressed bytes differ between versions of zlib, pictures don't.
"""

import math
import random
import struct
import sys
import wave
from pathlib import Path

from canvas import Canvas, gif, mix, ramp

WORKS = Path(__file__).parent / "works"


# Ada Marin: a harbour cut from paper, 640 x 800.


def harbour(sky, sea, sun, horizon=470, seed=1, bands=9):
    """Sky, sun and sea; `sun` is its x, y, radius and colour."""
    chance = random.Random(seed)
    canvas = Canvas(640, 800, sky[0])
    for n, colour in enumerate(ramp(sky, bands)):
        edge = horizon * (n / bands) ** 0.8
        wave_ = chance.uniform(0, 6)
        top = [(x, edge + 5 * math.sin(x / 130 + wave_) + 3 * math.sin(x / 47 + 2 * wave_)) for x in range(0, 641, 8)]
        if n:
            canvas.polygon(top + [(640, horizon), (0, horizon)], colour)
    x, y, radius, colour = sun
    for n, share in ((3, 0.22), (2, 0.4), (1, 0.62)):
        canvas.disc(x, y, radius * (1 + 0.42 * n), mix(sky[-1], colour, share))
    canvas.disc(x, y, radius, colour)
    for n, shade in enumerate(ramp(sea, bands)):
        edge = horizon + (800 - horizon) * (n / bands) ** 1.6
        canvas.polygon([(0, edge), (640, edge), (640, 800), (0, 800)], shade)
    return canvas, chance


def headland(canvas, chance, left, right, base, height, colour):
    points, x = [], left
    while x <= right:
        share = (x - left) / (right - left)
        rise = math.sin(math.pi * min(1, share * 1.05)) ** 0.7 if 0 < share < 1 else 0
        points.append((x, base - height * rise * chance.uniform(0.86, 1.0)))
        x += (right - left) / 26
    canvas.polygon([(left, base)] + points + [(right, base)], colour)


def glitter(canvas, chance, x, horizon, colour, count=60, spread=1.0):
    """The sun's road: slivers that widen towards the shore."""
    for n in range(count):
        share = (n + 0.5) / count
        y = horizon + 6 + (790 - horizon) * share**1.5
        width = (14 + 90 * share) * chance.uniform(0.35, 1) * spread
        middle = x + chance.uniform(-1, 1) * (12 + 70 * share) * spread
        thick = 1.2 + 4.2 * share
        canvas.polygon([(middle - width, y), (middle, y - thick / 2), (middle + width, y), (middle, y + thick / 2)], colour)


def pier(canvas, dark, shade, snow=None):
    """A pier from the left, with its mirror image in the water."""
    for n in range(7):
        x = 30 + n * 52 - n * n * 0.8
        high, low, thick = 520 - n * 3.4, 640 - n * 17, 11 - n
        canvas.polygon([(x - thick / 2, low), (x + thick / 2, low), (x + thick / 3, low + 120 - n * 9), (x - thick / 3, low + 120 - n * 9)], shade)
        canvas.rectangle(x - thick / 2, high - 22, thick, low - high + 22, dark)
        if snow:
            canvas.polygon([(x - thick / 2 - 1, high - 22), (x, high - 29), (x + thick / 2 + 1, high - 22)], snow)
    canvas.polygon([(0, 541), (352, 505), (352, 513), (0, 566)], dark)
    if snow:
        canvas.polygon([(0, 535), (352, 503), (352, 506), (0, 545)], snow)
    canvas.line([(0, 500), (340, 480)], 3, dark)


def boat(canvas, x, y, size, hull, mirror):
    canvas.polygon([(x - size, y), (x + size, y), (x + size * 0.72, y + size * 0.3), (x - size * 0.78, y + size * 0.3)], hull)
    canvas.polygon([(x - size * 0.7, y + size * 0.36), (x + size * 0.66, y + size * 0.36), (x + size * 0.3, y + size * 0.62), (x - size * 0.4, y + size * 0.62)], mirror)


def gulls(canvas, places, colour):
    for x, y, size in places:
        for side in (-1, 1):
            canvas.polygon([(x, y), (x + side * size * 0.5, y - size * 0.34), (x + side * size, y - size * 0.06), (x + side * size * 0.5, y - size * 0.22)], colour)


def first_light():
    canvas, chance = harbour(["#16284a", "#2c3e6b", "#6b5b86", "#c9788a", "#f6a98a", "#ffd9a0"], ["#e9a48c", "#8a6a8d", "#35456f", "#14213f"], (430, 452, 46, "#fff0c4"), seed=11)
    headland(canvas, chance, 470, 760, 472, 62, "#5a4a74")
    headland(canvas, chance, -120, 210, 473, 38, "#7c5f84")
    canvas.rectangle(546, 372, 13, 48, "#3f365c")
    canvas.rectangle(543, 362, 19, 10, "#fff0c4")
    canvas.polygon([(542, 362), (552, 351), (563, 362)], "#3f365c")
    glitter(canvas, chance, 430, 472, "#ffdcae")
    boat(canvas, 486, 600, 42, "#101a33", "#24325a")
    canvas.line([(482, 600), (482, 566)], 3, "#101a33")
    pier(canvas, "#101a33", "#1b2a4d")
    return canvas


def second_light():
    canvas, chance = harbour(["#3f6ea1", "#7ba3c4", "#b9cdcf", "#f2ddb0", "#ffe9b8"], ["#f0d9a8", "#9fb9bd", "#4f86a3", "#24587d"], (452, 352, 44, "#fffbe6"), seed=12)
    headland(canvas, chance, 470, 760, 472, 62, "#6f8ea6")
    headland(canvas, chance, -120, 210, 473, 38, "#93abb5")
    canvas.rectangle(546, 372, 13, 48, "#55748d")
    canvas.polygon([(542, 372), (552, 354), (563, 372)], "#c8553d")
    glitter(canvas, chance, 452, 472, "#fff3cd", spread=1.15)
    boat(canvas, 560, 548, 28, "#c8553d", "#7f7f86")
    canvas.polygon([(556, 545), (556, 478), (590, 545)], "#fffbe6")
    canvas.polygon([(552, 545), (552, 492), (532, 545)], "#f2ddb0")
    pier(canvas, "#1d3d57", "#3b6c88")
    gulls(canvas, [(120, 170, 30), (176, 138, 20), (236, 196, 16)], "#1d3d57")
    return canvas


def noon():
    canvas, chance = harbour(["#2f9fb8", "#6fc3c9", "#a9dcd3", "#e1f0dc"], ["#bfe5d8", "#62c0bf", "#1f8f9f", "#0f6076"], (150, 120, 40, "#fffdf0"), seed=13, horizon=430)
    headland(canvas, chance, 300, 720, 432, 54, "#5aa79c")
    headland(canvas, chance, 430, 740, 433, 92, "#3d8b85")
    for x, y, size, hull, sail in ((230, 590, 58, "#f25f4c", "#fffdf0"), (468, 496, 24, "#123f53", "#ffe8c2"), (92, 478, 17, "#123f53", "#fffdf0")):
        mirror = mix(sail, "#2fa0aa", 0.45)
        canvas.polygon([(x + size * 0.06, y - size * 0.08), (x + size * 0.06, y - size * 2.5), (x + size * 0.98, y - size * 0.08)], sail)
        canvas.polygon([(x - size * 0.06, y - size * 0.08), (x - size * 0.06, y - size * 2.1), (x - size * 0.72, y - size * 0.08)], mix(sail, hull, 0.16))
        canvas.polygon([(x + size * 0.06, y + size * 0.5), (x + size * 0.06, y + size * 2.1), (x + size * 0.9, y + size * 0.5)], mirror)
        canvas.polygon([(x - size * 0.06, y + size * 0.5), (x - size * 0.06, y + size * 1.8), (x - size * 0.66, y + size * 0.5)], mix(mirror, hull, 0.12))
        boat(canvas, x, y, size, hull, mix(hull, "#2fa0aa", 0.45))
        for n in range(7):
            width = size * chance.uniform(0.3, 1.0)
            at = y + size * (0.7 + n * 0.2)
            canvas.rectangle(x - width + chance.uniform(-0.3, 0.3) * size, at, width * 2, max(1, size * 0.03), "#1f8f9f")
    for n in range(26):
        y = 452 + 340 * (n / 26) ** 1.4
        width = 20 + 110 * (n / 26) * chance.random()
        canvas.rectangle(chance.uniform(-40, 640), y, width, 1 + 2.4 * n / 26, "#d9f0e4")
    return canvas


def ferry_weather():
    canvas, chance = harbour(["#4b5d67", "#6d8088", "#94a3a3", "#c2c7bc"], ["#8fa09f", "#5c7780", "#35525f", "#1c3541"], (470, 170, 34, "#e8e6d6"), seed=14, horizon=390)
    headland(canvas, chance, -160, 300, 392, 46, "#7d8f92")
    x, y = 330, 388
    canvas.polygon([(x - 150, y), (x + 165, y - 8), (x + 138, y + 50), (x - 132, y + 50)], "#b8402f")
    canvas.polygon([(x - 134, y + 38), (x + 144, y + 36), (x + 138, y + 50), (x - 132, y + 50)], "#6d2a26")
    canvas.polygon([(x - 128, y), (x - 120, y - 34), (x + 104, y - 38), (x + 126, y - 7)], "#f3efe0")
    canvas.polygon([(x - 78, y - 35), (x - 72, y - 62), (x + 60, y - 64), (x + 74, y - 37)], "#f3efe0")
    for n in range(9):
        canvas.rectangle(x - 106 + n * 23, y - 25, 13, 10, "#35525f")
    for n in range(5):
        canvas.rectangle(x - 58 + n * 22, y - 55, 12, 9, "#35525f")
    canvas.polygon([(x - 22, y - 63), (x - 18, y - 108), (x + 16, y - 108), (x + 20, y - 63)], "#b8402f")
    canvas.polygon([(x - 19, y - 100), (x - 18, y - 108), (x + 16, y - 108), (x + 17, y - 100)], "#1c3541")
    smoke = [(x, y - 120, 17), (x - 26, y - 140, 24), (x - 66, y - 158, 31), (x - 120, y - 172, 38), (x - 186, y - 180, 44)]
    for n, (at, high, radius) in enumerate(smoke):
        canvas.disc(at, high, radius, mix("#55646b", "#8f9d9e", n / 5))
    for n, colour in enumerate(ramp(["#7a9298", "#4d6a75", "#2b4856", "#142a35"], 8)):
        base, lift = 432 + n * 47, 9 + n * 3.2
        length, shift = 120 + n * 26, n * 61
        crest = [(at, base - lift * abs(math.sin((at + shift) / length * math.pi)) ** 1.7) for at in range(0, 645, 4)]
        canvas.polygon([(at, high - 3 - n * 0.6) for at, high in crest] + [(640, 800), (0, 800)], mix(colour, "#e8e6d6", 0.5))
        canvas.polygon(crest + [(640, 800), (0, 800)], colour)
    for n in range(70):
        at, high, length = chance.uniform(-20, 640), chance.uniform(0, 760), chance.uniform(16, 40)
        canvas.line([(at, high), (at - length * 0.35, high + length)], 1.3, "#c2c7bc")
    return canvas


def lamp_room():
    canvas, chance = harbour(["#070d24", "#0c1738", "#14244f", "#203766", "#38527f"], ["#26406d", "#152a52", "#0b1836", "#060d20"], (112, 96, 25, "#f4ecd0"), seed=15, horizon=520)
    canvas.disc(123, 90, 22, "#0e1a3c")
    for n in range(90):
        size = chance.choice((1.1, 1.1, 1.5, 2.1))
        canvas.disc(chance.uniform(0, 640), chance.uniform(0, 420), size, chance.choice(("#f4ecd0", "#a9b9dc", "#7f93c2")))
    lamp = (452, 262)
    for spread, colour in ((0.15, "#2c4068"), (0.1, "#566078"), (0.055, "#9c9279"), (0.02, "#efd48a")):
        for middle in (math.pi - 0.16, -0.16):
            reach = 760
            canvas.polygon([lamp] + [(lamp[0] + reach * math.cos(middle + s * spread), lamp[1] + reach * math.sin(middle + s * spread)) for s in (-1, 1)], colour)
    headland(canvas, chance, 240, 780, 524, 72, "#0a1430")
    canvas.polygon([(424, 470), (434, 288), (470, 288), (480, 470)], "#d8d3c4")
    for n in (0, 2, 4):
        top, bottom = 300 + n * 32, 300 + (n + 1) * 32
        canvas.polygon([(434 - (top - 288) / 18.2, top), (470 + (top - 288) / 18.2, top), (470 + (bottom - 288) / 18.2, bottom), (434 - (bottom - 288) / 18.2, bottom)], "#b43a32")
    canvas.rectangle(426, 282, 52, 8, "#0a1430")
    canvas.rectangle(437, 244, 30, 38, "#ffe7a3")
    canvas.disc(lamp[0], lamp[1] + 1, 11, "#fffbe6")
    for x in (437, 451, 464):
        canvas.rectangle(x, 244, 3, 38, "#0a1430")
    canvas.polygon([(430, 244), (452, 216), (474, 244)], "#b43a32")
    canvas.rectangle(380, 440, 44, 34, "#0f1c3e")
    canvas.polygon([(374, 440), (402, 418), (430, 440)], "#0a1430")
    canvas.rectangle(396, 450, 9, 11, "#ffd978")
    glitter(canvas, chance, 452, 530, "#d9bd79", count=44, spread=0.5)
    return canvas


def winter():
    canvas, chance = harbour(["#9fb6c8", "#bccdd8", "#d9e1e2", "#f3e6d6", "#fbd9bd"], ["#e8dcd2", "#b5c6cf", "#86a3b3", "#5d8097"], (402, 418, 40, "#ff9f6b"), seed=16)
    headland(canvas, chance, 470, 760, 472, 62, "#e9eef0")
    headland(canvas, chance, 520, 770, 473, 40, "#a9bccb")
    headland(canvas, chance, -120, 210, 473, 38, "#cfdbe2")
    glitter(canvas, chance, 402, 472, "#ffc9a3", count=48, spread=0.8)
    for n in range(16):
        y = 560 + 230 * chance.random()
        x, size = chance.uniform(250, 640), chance.uniform(16, 58)
        points = [(x + size * math.cos(a) * chance.uniform(0.8, 1.1), y + size * 0.26 * math.sin(a)) for a in (0.2, 1.1, 2.0, 3.0, 3.9, 4.8, 5.6)]
        canvas.polygon([(a, b + 4) for a, b in points], "#7393a6")
        canvas.polygon(points, "#f1f5f5")
    pier(canvas, "#32475a", "#6f8da0", snow="#fbfdfd")
    for n in range(150):
        canvas.disc(chance.uniform(0, 640), chance.uniform(0, 800), chance.choice((1.4, 2, 2.8)), "#ffffff")
    return canvas


# Grace Tidewell: water, measured, 720 x 720.

PAPER, INK, CORAL, FOAM = "#f4eee1", "#12324a", "#ef6a4c", "#d7e5df"


def high_water():
    chance, canvas = random.Random(21), Canvas(720, 720, INK)
    peaks = [(chance.uniform(190, 530), chance.uniform(22, 60), chance.uniform(0.4, 1.0), chance.uniform(-5, 5)) for _ in range(9)]
    for n in range(38):
        base, line = 150 + n * 13.6, []
        for x in range(70, 651, 5):
            calm = math.exp(-(((x - 360) / 165) ** 4))
            height = sum(tall * math.exp(-(((x - middle - drift * n) / wide) ** 2)) * (0.5 + 0.5 * math.sin(n * 0.5 + middle)) for middle, wide, tall, drift in peaks)
            line.append((x, base - 46 * calm * height - 2.0 * math.sin(x / 11 + n * 2.1) * calm))
        accent = n == 23
        canvas.polygon(line + [(650, 720), (70, 720)], INK)
        canvas.line(line, 3.4 if accent else 2.0, CORAL if accent else mix(INK, PAPER, 0.35 + 0.65 * n / 37))
    canvas.rectangle(0, 668, 720, 52, INK)
    return canvas


def contours(seed, colours, waves, width=720, stretch=(1.0, 1.0)):
    chance, canvas = random.Random(seed), Canvas(width, width, colours[0])
    parts = []
    for n in range(waves):
        angle, pace = chance.uniform(0, math.tau), chance.uniform(2, 4 + n * 0.9)
        parts.append((math.cos(angle) * pace * stretch[0], math.sin(angle) * pace * stretch[1], chance.uniform(0, math.tau), 1 / (1 + n * 0.5)))
    count = 180
    field = [[sum(a * math.sin(u * x / count + v * y / count + p + 0.9 * math.sin(v * x / count * 1.3 - u * y / count)) for u, v, p, a in parts) for x in range(count + 1)] for y in range(count + 1)]
    low, high = min(map(min, field)), max(map(max, field))
    canvas.levels([[(value - low) / (high - low) for value in row] for row in field], colours)
    return canvas


def low_water():
    canvas = contours(4, ramp(["#3e2f2a", "#7d5a44", "#b98d63", "#dcbf95", "#efe2c8"], 15), 5, stretch=(0.9, 3.4))
    chance = random.Random(24)
    for n in range(30):
        canvas.disc(chance.uniform(20, 700), chance.uniform(20, 700), chance.uniform(1.6, 4.2), "#3e2f2a")
    for x, y, radius in ((470, 214, 66), (196, 452, 40), (548, 560, 25)):
        canvas.disc(x, y + 4, radius + 3, "#5a4033")
        canvas.disc(x, y, radius, "#7fb0b5")
        canvas.disc(x - radius * 0.12, y - radius * 0.1, radius * 0.76, "#a9cdca")
        canvas.disc(x - radius * 0.26, y - radius * 0.24, radius * 0.36, "#dcece4")
    return canvas


def spring_tide():
    colours = []
    for colour in ramp(["#0b2538", "#12415c", "#1d6a82", "#46a0a6", "#9fd0c4", "#eef3e2"], 11):
        colours += [colour, colour, colour, mix(colour, "#ffffff", 0.4)]
    canvas = contours(9, colours, 5)
    canvas.disc(522, 186, 54, CORAL)
    return canvas


def moon_pull():
    canvas = Canvas(720, 720, PAPER)
    for n in range(46):
        canvas.ring(270, 420, 12 + n * 15, 5.2, INK)
    canvas.disc(470, 262, 158, PAPER)
    for n in range(11):
        canvas.ring(470, 262, 8 + n * 14.4, 6.6, CORAL)
    for n in range(46):
        radius = 12 + n * 15
        # The rings go on under the moon, drawn in by it.
        pull = [(270 + radius * math.cos(a), 420 + radius * math.sin(a)) for a in [math.tau * k / 240 for k in range(241)]]
        moved = []
        for x, y in pull:
            dx, dy = x - 470, y - 262
            distance = math.hypot(dx, dy)
            moved.append((470 + dx * 0.86, 262 + dy * 0.86) if distance < 158 else None)
        run = []
        for point in moved + [None]:
            if point is None:
                if len(run) > 1:
                    canvas.line(run, 2.2, INK)
                run = []
            else:
                run.append(point)
    frame = 44
    for x, y, width, height in ((0, 0, 720, frame), (0, 720 - frame, 720, frame), (0, 0, frame, 720), (720 - frame, 0, frame, 720)):
        canvas.rectangle(x, y, width, height, PAPER)
    return canvas


def year_of_tides():
    canvas = Canvas(720, 720, "#0e2a3f")
    shades = ramp(["#2b7f93", "#9fd0c4", "#f4eee1"], 9)
    for day in range(365):
        moon = math.cos(math.tau * day / 14.765)
        season = math.cos(math.tau * (day - 80) / 182.6)
        swing = 62 + 40 * moon * (0.75 + 0.25 * season) + 6 * math.sin(day * 1.7)
        angle = math.tau * day / 365 - math.pi / 2
        near, far = 208 - swing * 0.9, 208 + swing
        full = moon > 0.985
        canvas.line([(360 + r * math.cos(angle), 360 + r * math.sin(angle)) for r in (near, far)], 2.3, CORAL if full else shades[8 - round(abs(day - 182.5) / 182.5 * 8)])
        if full:
            canvas.disc(360 + (far + 14) * math.cos(angle), 360 + (far + 14) * math.sin(angle), 4.6, CORAL)
    canvas.ring(360, 360, 208, 1.6, "#0e2a3f")
    return canvas


def fog_signal_cover():
    canvas = Canvas(720, 720, "#c9d2cf")
    for n, colour in enumerate(ramp(["#c9d2cf", "#b3c0c0", "#93a6ab", "#6d868f", "#4a6672"], 9)):
        edge = 250 + n * 56
        canvas.polygon([(x, edge + 13 * math.sin(x / 96 + n * 1.4) + 6 * math.sin(x / 39 + n)) for x in range(0, 721, 6)] + [(720, 720), (0, 720)], colour)
    for n, radius in enumerate((88, 140, 192, 244, 296, 348, 400)):
        canvas.ring(214, 470, radius, 17 - n * 1.9, mix(CORAL, "#c2cbc9", n / 8), start=-1.12, end=0.2)
    canvas.disc(214, 470, 42, CORAL)
    canvas.polygon([(186, 720), (198, 496), (230, 496), (242, 720)], INK)
    canvas.disc(214, 470, 25, INK)
    return canvas


def fog_signal(path):
    """Three notes of a horn and their echo, 8,000 samples a second."""
    rate, seconds = 8_000, 4.6
    mixed = [0.0] * int(rate * seconds)
    for start, length, pitch, loud in ((0.0, 0.95, 146.83, 1.0), (1.0, 0.95, 146.83, 0.9), (2.0, 1.5, 110.0, 1.0)):
        for echo, (delay, level) in enumerate(((0.0, 1.0), (0.42, 0.3), (0.88, 0.13))):
            for n in range(int(rate * length)):
                at = int(rate * (start + delay)) + n
                if at >= len(mixed):
                    break
                t = n / rate
                rise, fall = min(1.0, t / 0.12), min(1.0, (length - t) / 0.35)
                shake = 1 + 0.004 * math.sin(math.tau * 5.1 * t)
                tone = sum(math.sin(math.tau * pitch * k * shake * t + k) * a for k, a in ((1, 1.0), (2, 0.55), (3, 0.4), (4, 0.16), (5, 0.1), (6, 0.05)))
                mixed[at] += tone * rise * fall * loud * level / (1 + 0.3 * echo)
    top = max(map(abs, mixed))
    fade = int(rate * 0.3)
    samples = [int(26_000 * value / top * min(1.0, (len(mixed) - n) / fade)) for n, value in enumerate(mixed)]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))


# Ines Weft: cloth, 720 x 720.

CREAM, OCHRE, BRICK, INDIGO, MOSS, ROSE = "#f3e9d6", "#dda23a", "#b6452f", "#27346b", "#5f7147", "#e3a79a"


def quilt():
    canvas, size = Canvas(720, 720, CREAM), 80
    chance = random.Random(33)
    quarter = [[(chance.choice("tcgs"), chance.randrange(4), chance.sample((OCHRE, BRICK, INDIGO, MOSS, ROSE, INDIGO, BRICK), 2)) for _ in range(4)] for _ in range(4)]
    for row in range(8):
        for column in range(8):
            mirrored = (column > 3, row > 3)
            kind, turn, (first, second) = quarter[min(row, 7 - row)][min(column, 7 - column)]
            left, top = 40 + column * size, 40 + row * size

            def place(x, y):
                for _ in range(turn):
                    x, y = 1 - y, x
                return (left + (1 - x if mirrored[0] else x) * size, top + (1 - y if mirrored[1] else y) * size)

            def shape(*points, colour):
                canvas.polygon([place(x, y) for x, y in points], colour)

            shape((0, 0), (1, 0), (1, 1), (0, 1), colour=CREAM)
            if kind == "t":
                shape((0, 0), (1, 0), (0, 1), colour=first)
            elif kind == "g":
                for step in (0, 0.5):
                    shape((0, step + 0.5), (0.5, step), (1, step + 0.5), colour=first if step else second)
            elif kind == "c":
                for radius, colour in ((1.0, first), (0.66, CREAM), (0.33, second)):
                    shape((0, 0), *[(radius * math.cos(a), radius * math.sin(a)) for a in [math.pi / 2 * n / 30 for n in range(31)]], colour=colour)
            else:
                shape((0, 0), (1, 0), (0.5, 0.5), colour=first)
                shape((0, 1), (1, 1), (0.5, 0.5), colour=first)
                shape((0.5, 0.28), (0.72, 0.5), (0.5, 0.72), (0.28, 0.5), colour=second)
    for n in range(9):
        at = 40 + n * size
        for x in range(44, 680, 10):
            canvas.rectangle(x, at - 0.8, 5, 1.6, "#8d7f6a")
            canvas.rectangle(at - 0.8, x, 1.6, 5, "#8d7f6a")
    return canvas


def twill():
    canvas, count, pitch = Canvas(720, 720, "#20253f"), 14, 48
    warp = [OCHRE, OCHRE, CREAM, INDIGO, INDIGO, CREAM, BRICK, BRICK, CREAM, INDIGO, INDIGO, CREAM, OCHRE, OCHRE]
    weft = [CREAM, INDIGO, CREAM, BRICK, CREAM, MOSS, MOSS, MOSS, MOSS, CREAM, BRICK, CREAM, INDIGO, CREAM]

    def thread(x, y, along, colour):
        length, width = pitch * 1.16, pitch * 0.8
        for step, shade in ((0, 0.26), (1, 0.0), (2, 0.0), (3, 0.14)):
            low = -width / 2 + width * (0, 0.12, 0.5, 0.88)[step]
            deep = width * (0.12, 0.38, 0.38, 0.12)[step]
            colour_ = mix(colour, "#15182c", shade) if step != 2 else mix(colour, "#15182c", 0.06)
            if along:
                canvas.rectangle(x - length / 2, y + low, length, deep, colour_)
            else:
                canvas.rectangle(x + low, y - length / 2, deep, length, colour_)

    for over in (False, True):
        for row in range(count):
            for column in range(count):
                x, y = 24 + pitch * (column + 0.5), 24 + pitch * (row + 0.5)
                # Each pass floats over two and under two.
                is_weft = ((row + column) % 4 < 2) == over
                thread(x, y, is_weft, weft[row] if is_weft else warp[column])
    return canvas


def shuttle(path):
    """Half discs that turn one after another, then rest: a loop of 24 frames."""
    frames, tiles, size = [], 8, 30
    for frame in range(24):
        canvas = Canvas(tiles * size + 24, tiles * size + 24, CREAM)
        for row in range(tiles):
            for column in range(tiles):
                x, y = 12 + (column + 0.5) * size, 12 + (row + 0.5) * size
                away = math.hypot(column - 3.5, row - 3.5)
                clock = min(1, (frame / 24 - away * 0.075) % 1 * 1.7)
                eased = clock * clock * (3 - 2 * clock)
                turn = math.tau * eased + (row + column) % 2 * math.pi / 2
                canvas.disc(x, y, 13.5, (OCHRE, ROSE)[(row + column) % 2])
                canvas.disc(x, y, 13.5, (INDIGO, BRICK)[(row + column) % 2], turn, turn + math.pi)
        frames.append(canvas)
    shades = [mix(a, b, n / 2) for a, b in ((CREAM, OCHRE), (CREAM, INDIGO), (OCHRE, INDIGO), (CREAM, ROSE), (CREAM, BRICK), (ROSE, BRICK)) for n in range(3)]
    gif(path, frames, sorted(set(shades)), 6)


# The artists themselves, each as one of their works would have them, 480 x 480.


def portrait(ground, skin, hair, coat, back):
    """Head and shoulders, cut from paper, before a ground that `back` draws."""
    canvas = Canvas(480, 480, ground)
    back(canvas)
    canvas.polygon([(66, 480), (96, 404), (170, 368), (310, 368), (384, 404), (414, 480)], coat)
    canvas.polygon([(204, 300), (276, 300), (284, 382), (240, 412), (196, 382)], mix(skin, coat, 0.28))
    hair(canvas)
    oval = [(240 + 74 * math.cos(a), 234 + 96 * math.sin(a)) for a in [math.tau * n / 60 for n in range(60)]]
    canvas.polygon(oval, skin)
    for x in (212, 268):
        canvas.disc(x, 232, 6, INK)
    canvas.polygon([(238, 240), (250, 266), (236, 268)], mix(skin, INK, 0.2))
    canvas.ring(240, 272, 22, 4, mix(skin, INK, 0.6), start=0.5, end=2.6)
    return canvas


def ada_marin():
    def sea(canvas):
        canvas.disc(370, 120, 52, "#fff0c4")
        for n, colour in enumerate(ramp(["#e9a48c", "#8a6a8d", "#35456f"], 6)):
            canvas.rectangle(0, 250 + n * 40, 480, 48, colour)

    canvas = portrait("#f6a98a", "#e8b48f", lambda c: c.disc(240, 226, 104, "#2a1d24"), "#d9a521", sea)
    canvas.polygon([(136, 196), (160, 120), (240, 92), (320, 120), (344, 196), (356, 208), (124, 208)], "#d9a521")
    canvas.rectangle(118, 198, 244, 14, mix("#d9a521", INK, 0.25))
    return canvas


def grace_tidewell():
    def rings(canvas):
        for n in range(12):
            canvas.ring(240, 250, 130 + n * 26, 7, mix(INK, PAPER, 0.15 + n * 0.06))

    def hair(canvas):
        canvas.disc(240, 128, 46, "#c9c4ba")
        canvas.disc(240, 214, 100, "#c9c4ba")

    canvas = portrait(INK, "#8a5a3c", hair, CORAL, rings)
    for x in (212, 268):
        canvas.ring(x, 232, 23, 4, PAPER)
    canvas.line([(235, 230), (245, 230)], 4, PAPER)
    return canvas


def ines_weft():
    def cloth(canvas):
        for row in range(8):
            for column in range(8):
                canvas.rectangle(column * 60 + 4, row * 60 + 4, 52, 52, (OCHRE, CREAM, BRICK, CREAM)[(row + 2 * column) % 4])

    def hair(canvas):
        canvas.polygon([(132, 220), (150, 140), (240, 108), (330, 140), (348, 220), (356, 392), (124, 392)], "#4a1f17")

    canvas = portrait("#27346b", "#f0c9a8", hair, MOSS, cloth)
    canvas.polygon([(166, 212), (178, 150), (240, 126), (302, 150), (314, 212), (240, 172)], "#4a1f17")
    return canvas


PICTURES = {
    "ada-marin": ada_marin,
    "grace-tidewell": grace_tidewell,
    "ines-weft": ines_weft,
    "first-light": first_light,
    "second-light": second_light,
    "noon-no-wind": noon,
    "ferry-weather": ferry_weather,
    "lamp-room": lamp_room,
    "the-same-pier-in-winter": winter,
    "high-water": high_water,
    "low-water": low_water,
    "spring-tide": spring_tide,
    "moon-pull": moon_pull,
    "a-year-of-tides": year_of_tides,
    "fog-signal-cover": fog_signal_cover,
    "quilt-for-a-cold-room": quilt,
    "twill": twill,
}

if __name__ == "__main__":
    wanted = sys.argv[1:] or [*PICTURES, "fog-signal", "shuttle"]
    for name in wanted:
        if name == "fog-signal":
            fog_signal(WORKS / "fog-signal.wav")
        elif name == "shuttle":
            shuttle(WORKS / "shuttle.gif")
        else:
            PICTURES[name]().png(WORKS / f"{name}.png")
