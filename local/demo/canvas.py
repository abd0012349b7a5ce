"""Flat shapes on a canvas, antialiased, written as PNG or GIF. Needs nothing but Python."""

import math
import struct
import zlib

SAMPLES = 3


def rgb(colour):
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def mix(first, second, share):
    """The colour between two: `first` at 0, `second` at 1."""
    parts = (round(a + (b - a) * share) for a, b in zip(rgb(first), rgb(second)))
    return "#%02x%02x%02x" % tuple(parts)


def ramp(colours, count):
    """`count` colours along a row of colours."""
    steps = []
    for n in range(count):
        place = n / max(1, count - 1) * (len(colours) - 1)
        low = min(int(place), len(colours) - 2)
        steps.append(mix(colours[low], colours[low + 1], place - low))
    return steps


class Canvas:
    """Coordinates are in pixels of the picture; each pixel is the mean of SAMPLES x SAMPLES samples."""

    def __init__(self, width, height, ground):
        self.width, self.height = width, height
        self.colours = []
        index = self._index(ground)
        self.rows = [bytearray([index]) * (width * SAMPLES) for _ in range(height * SAMPLES)]

    def _index(self, colour):
        if colour not in self.colours:
            self.colours.append(colour)
        return self.colours.index(colour)

    def _span(self, row, left, right, index):
        if 0 <= row < len(self.rows):
            left, right = max(0, left), min(self.width * SAMPLES, right)
            if right > left:
                self.rows[row][left:right] = bytes([index]) * (right - left)

    def polygon(self, points, colour):
        index = self._index(colour)
        points = [(x * SAMPLES, y * SAMPLES) for x, y in points]
        top = max(0, math.floor(min(y for _, y in points)))
        bottom = min(len(self.rows), math.ceil(max(y for _, y in points)) + 1)
        crossings = [[] for _ in range(max(0, bottom - top))]
        for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
            if y0 == y1:
                continue
            if y0 > y1:
                x0, y0, x1, y1 = x1, y1, x0, y0
            slope = (x1 - x0) / (y1 - y0)
            for row in range(max(top, math.ceil(y0 - 0.5)), min(bottom, math.ceil(y1 - 0.5))):
                crossings[row - top].append(x0 + (row + 0.5 - y0) * slope)
        for row, at in enumerate(crossings, top):
            at.sort()
            for left, right in zip(at[::2], at[1::2]):
                self._span(row, math.ceil(left - 0.5), math.ceil(right - 0.5), index)

    def rectangle(self, x, y, width, height, colour):
        self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], colour)

    def disc(self, x, y, radius, colour, start=0.0, end=math.tau):
        """A disc, or the sector of it between two angles."""
        steps = max(24, int(radius))
        arc = [start + (end - start) * n / steps for n in range(steps + 1)]
        points = [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in arc]
        self.polygon(points + ([(x, y)] if end - start < math.tau else []), colour)

    def ring(self, x, y, radius, width, colour, start=0.0, end=math.tau):
        steps = max(48, int(radius * 1.5))
        arc = [start + (end - start) * n / steps for n in range(steps + 1)]
        outer = [(x + (radius + width / 2) * math.cos(a), y + (radius + width / 2) * math.sin(a)) for a in arc]
        inner = [(x + (radius - width / 2) * math.cos(a), y + (radius - width / 2) * math.sin(a)) for a in arc]
        self.polygon(outer + inner[::-1], colour)

    def line(self, points, width, colour):
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            length = math.hypot(x1 - x0, y1 - y0) or 1.0
            dx, dy = (y1 - y0) / length * width / 2, (x0 - x1) / length * width / 2
            self.polygon([(x0 + dx, y0 + dy), (x1 + dx, y1 + dy), (x1 - dx, y1 - dy), (x0 - dx, y0 - dy)], colour)

    def levels(self, field, colours):
        """Paints every sample by a field from 0 to 1, given at a grid of points over the whole canvas."""
        indices = [self._index(colour) for colour in colours]
        cells, count = len(field) - 1, len(colours)
        size = self.width * SAMPLES
        places = [(int(x * cells / size), x * cells / size % 1) for x in range(size)]
        for y, row in enumerate(self.rows):
            place = y * cells / len(self.rows)
            top, share = int(place), place % 1
            upper, lower = field[top], field[top + 1]
            line = [a + (b - a) * share for a, b in zip(upper, lower)]
            row[:] = bytes(
                indices[min(count - 1, max(0, int((line[n] + (line[n + 1] - line[n]) * part) * count)))]
                for n, part in places
            )

    def pixels(self):
        """The rows of the picture, as lists of colours."""
        known, palette = {}, [rgb(colour) for colour in self.colours]
        for y in range(0, len(self.rows), SAMPLES):
            lines = self.rows[y : y + SAMPLES]
            row = []
            for x in range(0, self.width * SAMPLES, SAMPLES):
                key = b"".join(line[x : x + SAMPLES] for line in lines)
                if key not in known:
                    parts = [palette[index] for index in key]
                    is_edge = len(set(key)) > 1
                    step = 8 if is_edge else 1
                    known[key] = tuple(min(255, round(sum(part) / len(parts) / step) * step) for part in zip(*parts))
                row.append(known[key])
            yield row

    def png(self, path):
        rows = list(self.pixels())
        colours = sorted({pixel for row in rows for pixel in row})
        if len(colours) <= 256:
            index = {colour: n for n, colour in enumerate(colours)}
            kind, lines = 3, [bytes(index[pixel] for pixel in row) for row in rows]
        else:
            kind, lines = 2, [bytes(part for pixel in row for part in pixel) for row in rows]

        def chunk(name, data):
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

        with open(path, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n")
            file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", self.width, self.height, 8, kind, 0, 0, 0)))
            if kind == 3:
                file.write(chunk(b"PLTE", bytes(part for colour in colours for part in colour)))
            file.write(chunk(b"IDAT", zlib.compress(b"".join(b"\0" + line for line in lines), 9)))
            file.write(chunk(b"IEND", b""))


def gif(path, frames, colours, hundredths):
    """An endless film of canvases of one size, in at most 255 colours: each pixel takes the nearest, and what stays as it
    was in the frame before is left out."""
    palette = [rgb(colour) for colour in colours]
    clear = len(palette)
    bits = max(2, clear.bit_length())
    nearest = {}

    def find(pixel):
        if pixel not in nearest:
            distance = [sum((a - b) ** 2 for a, b in zip(pixel, colour)) for colour in palette]
            nearest[pixel] = distance.index(min(distance))
        return nearest[pixel]

    width, height = frames[0].width, frames[0].height
    with open(path, "wb") as file:
        file.write(b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF0 | (bits - 1), 0, 0))
        file.write(bytes(part for colour in palette for part in colour).ljust(3 << bits, b"\0"))
        file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0")
        before = None
        for frame in frames:
            whole = bytes(find(pixel) for row in frame.pixels() for pixel in row)
            data = whole if before is None else bytes(clear if a == b else b for a, b in zip(before, whole))
            before = whole
            file.write(b"\x21\xf9\x04\x05" + struct.pack("<H", hundredths) + bytes([clear, 0]))
            file.write(b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + bytes([bits]))
            packed = lzw(data, bits)
            for start in range(0, len(packed), 255):
                block = packed[start : start + 255]
                file.write(bytes([len(block)]) + block)
            file.write(b"\0")
        file.write(b";")


def lzw(data, bits):
    clear, end = 1 << bits, (1 << bits) + 1
    packed, held, count = bytearray(), 0, 0
    codes, size = {bytes([n]): n for n in range(clear)}, bits + 1

    def put(code):
        nonlocal held, count
        held |= code << count
        count += size
        while count >= 8:
            packed.append(held & 255)
            held >>= 8
            count -= 8

    put(clear)
    word = b""
    for byte in data:
        longer = word + bytes([byte])
        if longer in codes:
            word = longer
            continue
        put(codes[word])
        if len(codes) + 2 < 4096:
            codes[longer] = len(codes) + 2
            if len(codes) + 1 >= 1 << size and size < 12:
                size += 1
        else:
            put(clear)
            codes, size = {bytes([n]): n for n in range(clear)}, bits + 1
        word = bytes([byte])
    put(codes[word])
    put(end)
    if count:
        packed.append(held & 255)
    return bytes(packed)
