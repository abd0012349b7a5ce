// The pages for people in a browser: looks, weight, what works without script, what strangers write, and the way from a
// sign-in to a picture on another site. Leaves screenshots in .local/pictures.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { HtmlValidate } from "html-validate";
import { newArtist, publish, send, upload } from "./publisher.mjs";
import { askNode, codeFor, found, hasToken, launch, looks, looksRight, mined, newAccount, newPage, pictures, stack, unusedEmail } from "./support.mjs";

const host = new URL(stack.api).origin;
const works = fileURLToPath(new URL("../../local/demo/works/", import.meta.url));

/** Markup, script, addresses that run one, styles, and turns of direction, as strangers write them. */
const HOSTILE = [
  `"><script>window.taken=1</script><img src=x onerror="window.taken=1">`,
  `</title></script><svg onload="window.taken=1"><style>*{display:none}</style>`,
  `javascript:window.taken=1//'onclick='window.taken=1' {{constructor.constructor("window.taken=1")()}}`,
  `\u202Egnp.exe\u2066 <a href="javascript:window.taken=1">x</a>&lt;script&gt;`,
];

let browser, artist, stranger, show, hostile;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
  const name = `ada.${crypto.randomUUID().slice(0, 6)}`;
  artist = await newArtist(name);
  const files = ["high-water.png", "moon-pull.png", "twill.png", "quilt-for-a-cold-room.png", "shuttle.gif", "lamp-room.png"];
  const stored = await Promise.all(files.map((file) => upload(artist, works + file)));
  const sound = await upload(artist, `${works}fog-signal.wav`);
  const piece = (number) => {
    const { uri, mime } = stored[number % stored.length];
    return { price: number % 3 && 1e15 * number, metadata: { name: ["High water", "Moon pull", "Twill", "Quilt for a cold room", "Shuttle", "Lamp room"][number % 6], description: "Ink and arithmetic.\nOne of a series.", image: uri, content: { mime, uri } } };
  };
  const fog = { metadata: { name: "Fog signal", image: stored[5].uri, animation_url: sound.uri, content: { mime: sound.mime, uri: sound.uri } } };
  show = await publish(artist, "Small hours", [...Array(22).keys()].map(piece).concat(fog));
  const moment = { collectionAddress: show.address, tokenId: "1" };
  await send(artist, "POST", "moment/collect", { moment, amount: 1, comment: "The light on the water!" }, { "idempotency-key": crypto.randomUUID() });
  const evil = (text) => ({ metadata: { name: text.slice(0, 200), description: text, image: stored[2].uri, external_url: "https://a.example/?%22%3E%3Cscript%3E", content: { mime: "image/png", uri: stored[2].uri } } });
  stranger = await newArtist(`eve.${crypto.randomUUID().slice(0, 6)}`);
  const links = ["https://a.example/\"><script>window.taken=1</script>", "https://a.example/'onmouseover='window.taken=1"];
  await send(stranger, "PATCH", "artists/me", { bio: HOSTILE.join("\n").slice(0, 500), avatar: stored[2].uri, links });
  hostile = await publish(stranger, HOSTILE[0].slice(0, 60), HOSTILE.map(evil));
  const target = { collectionAddress: hostile.address, tokenId: "1" };
  for (const comment of HOSTILE.slice(0, 3)) await send(artist, "POST", "moment/collect", { moment: target, amount: 1, comment }, { "idempotency-key": crypto.randomUUID() });
  const talk = `comments/eip155:8453/erc1155:${hostile.address}`;
  await send(artist, "POST", talk, { tokenId: "1", text: HOSTILE[3] });
  const read = async () => (await (await fetch(`${stack.api}/comments?collectionAddress=${hostile.address}&tokenId=1&n=${crypto.randomUUID()}`)).json()).comments;
  const { commentId: replyTo } = await found(async () => (await read()).find(({ comment, commentId }) => commentId && comment === HOSTILE[3]), "the comment");
  await send(stranger, "POST", talk, { tokenId: "1", text: HOSTILE[1], replyTo });
  await found(async () => (await (await fetch(`${host}/c/8453/${show.address}?n=${crypto.randomUUID()}`)).text()).includes("Fog signal"), "the collection's page");
  await found(async () => (await (await fetch(`${host}${placeOf(1)}?n=${crypto.randomUUID()}`)).text()).includes("The light on the water!"), "the comment");
});
after(() => browser?.close());

const placeOf = (token, collection = show) => `/m/8453/${collection.address}/${token}`;
const places = () => ({
  home: "/", moment: placeOf(1), film: placeOf(5), sound: placeOf(23), collection: `/c/8453/${show.address}`,
  artist: `/@${artist.username}`, embed: `/embed${placeOf(1)}`, missing: "/m/8453/0x00000000000000000000000000000000000000a1/1",
});

/** Whether a page shows others' works, the newest ones: they may be removed meanwhile. */
const showsOthers = (path) => new URL(path, host).pathname === "/";

async function visit(path, options = {}) {
  const page = await newPage(browser, { viewport: { width: 1440, height: 900 }, locale: "en-GB", timezoneId: "UTC", ...options });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: host });
  const [errors, images] = [[], []];
  const isOfRemoved = (text) => showsOthers(path) && text.includes("status of 451");
  page.on("console", (message) => message.type() === "error" && !isOfRemoved(message.text()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("dialog", (dialog) => errors.push(dialog.message()) && dialog.dismiss());
  page.on("response", (response) => {
    if (response.request().resourceType() === "image") images.push(response.body().catch(() => ""));
  });
  await page.addInitScript(() => {
    window.shifts = [];
    // The browser's own controls of a player move within it.
    const isOfControls = ({ node }) => !node || node instanceof HTMLMediaElement;
    const counts = (entry) => !entry.hadRecentInput && !entry.sources.every(isOfControls);
    const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
    const words = ({ node, previousRect, currentRect }) => `${node?.outerHTML?.slice(0, 200) ?? node?.nodeValue}: ${place(previousRect)} → ${place(currentRect)}`;
    const tell = ({ startTime, sources }) => `${Math.round(startTime)} ms: ${sources.map(words).join("; ")}`;
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().filter(counts).map(tell))).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(host + path, { waitUntil: "load" });
  const weight = async () => (await Promise.all(images)).reduce((sum, { length }) => sum + length, 0);
  return Object.assign(page, { errors, weight });
}

/** Lazy pictures come when they are scrolled to. */
async function seeAll(page) {
  await page.evaluate(async () => {
    for (const image of document.images) {
      image.scrollIntoView();
      if (!image.complete) await new Promise((done) => { image.onload = image.onerror = done; });
    }
    scrollTo(0, 0);
  });
}

for (const { colorScheme, width } of looks) {
  test(`${colorScheme} at ${width} pixels`, async () => {
    for (const [name, path] of Object.entries(places())) {
      const page = await visit(path, { colorScheme, reducedMotion: "reduce", viewport: { width, height: width < 500 ? 740 : 900 } });
      await seeAll(page);
      await page.screenshot({ path: `${pictures}/site-${name}-${width}-${colorScheme}.png`, fullPage: true });
      await looksRight(page, `${name} at ${width}`);
      assert.deepEqual(await page.evaluate(() => window.shifts), [], `${name} at ${width} jumps`);
      const broken = await page.evaluate(() => [...document.images].filter(({ naturalWidth }) => !naturalWidth).map(({ currentSrc }) => currentSrc));
      for (const source of broken) assert.ok(showsOthers(path) && (await fetch(source)).status === 451, `${name}: ${source}`);
      if (name !== "missing") assert.deepEqual(page.errors, [], name);
      await page.context().close();
    }
  });
}

test("a picture that isn't measured yet has its place", async () => {
  const page = await visit("/");
  const [width, height] = await page.evaluate(() => {
    const picture = document.createElement("img");
    document.querySelector(".cover .picture").replaceChildren(picture);
    const box = picture.getBoundingClientRect();
    return [box.width, box.height];
  });
  assert.ok(width > 100 && width === height, `${width} × ${height}`);
  await page.context().close();
});

test("pages are light, and valid HTML", async () => {
  const validator = new HtmlValidate({ extends: ["html-validate:standard"], rules: { "no-inline-style": "off" } });
  const assets = {};
  for (const [name, path] of Object.entries(places())) {
    const html = await (await fetch(host + path)).text();
    assert.ok(html.length <= 30_000, `${name} has ${html.length} bytes`);
    for (const [, address] of html.matchAll(/(?:href|src)="([^"]*\/assets\/[^"]*\.(?:css|js))"/g)) assets[address] ??= await (await fetch(address)).text();
    const { results } = await validator.validateString(html);
    const problems = results.flatMap(({ messages }) => messages.map(({ ruleId, message, line, column }) => `${ruleId} ${line}:${column} ${message}`));
    assert.deepEqual(problems, [], name);
  }
  const size = gzipSync(Object.values(assets).join("")).length;
  assert.ok(Object.keys(assets).length === 2 && size <= 25_000, `${size} bytes`);
});

test("everything is there without script", async () => {
  const page = await visit(placeOf(1), { javaScriptEnabled: false });
  for (const text of ["High water", "Free", "The light on the water!", artist.username]) await page.getByText(text).first().waitFor();
  assert.match(await page.getByRole("link", { name: "Collect" }).getAttribute("href"), /\/manage$/);
  assert.equal(await page.getByLabel("Link to this moment").inputValue(), host + placeOf(1));
  await page.goto(`${host}/c/8453/${show.address}`);
  assert.equal(await page.locator(".grid > li").count(), 20);
  const loaded = page.waitForEvent("load");
  await page.getByRole("link", { name: "Older moments" }).click();
  await loaded;
  assert.equal(await page.locator(".grid > li").count(), 3);
  await page.context().close();
});

test("older moments come to the grid", async () => {
  const page = await visit(`/c/8453/${show.address}`);
  await page.getByRole("link", { name: "Older moments" }).click();
  await page.locator(".grid > li").nth(22).waitFor();
  assert.equal(await page.getByRole("link", { name: "Older moments" }).count(), 0);
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("what strangers write stays text on every page", async () => {
  const all = HOSTILE.flatMap((_, n) => [placeOf(n + 1, hostile), `/embed${placeOf(n + 1, hostile)}`]);
  const read = async (path) => (await fetch(`${host}${path}?n=${crypto.randomUUID()}`)).text();
  await found(async () => (await read(placeOf(1, hostile))).match(/&lt;style&gt;/g)?.length > 1, "the reply");
  await found(async () => (await read(`/@${stranger.username}`)).includes("class=\"face\""), "the picture");
  for (const path of [...all, `/c/8453/${hostile.address}`, `/@${stranger.username}`, `/a/${stranger.account}`, `/@${artist.username}`, "/"]) {
    const page = await visit(path);
    await seeAll(page);
    for (const link of await page.locator("a, button").filter({ visible: true }).all()) await link.hover({ force: true }).catch(() => {});
    const { taken, scripts, elements } = await page.evaluate(() => ({
      taken: window.taken, scripts: document.scripts.length, elements: document.querySelectorAll("[onload], [onerror], [onclick], style, svg script, a[href^='javascript:']").length,
    }));
    assert.deepEqual([taken, elements, scripts <= 2, page.errors], [undefined, 0, true, []], path);
    // Nothing that a stranger wrote is an element: what the frame of the page has is all there is.
    assert.equal(await page.evaluate(() => document.querySelectorAll("main b, main script, main style, main title, main svg[onload]").length), 0, path);
    await page.context().close();
  }
});

test("pictures of twenty moments weigh a twentieth of the originals, and less", async () => {
  const folder = mkdtempSync(`${tmpdir()}/photos-`);
  const photos = await Promise.all([0, 1, 2, 3, 4].map((number) => photo(number, `${folder}/${number}.png`)));
  const stored = [];
  for (const file of photos) stored.push(await upload(artist, file));
  const originals = stored.reduce((sum, { size }) => sum + size, 0);
  const piece = (number) => {
    const { uri, mime } = stored[number % stored.length];
    return { metadata: { name: `Photo ${number + 1}`, image: uri, content: { mime, uri } } };
  };
  const { address } = await publish(artist, "Twenty", [...Array(20).keys()].map(piece));
  await found(async () => (await (await fetch(`${host}/c/8453/${address}?n=${crypto.randomUUID()}`)).text()).match(/srcset=/g)?.length === 20, "the pictures");
  for (const [width, deviceScaleFactor] of [[360, 3], [768, 2], [1440, 1]]) {
    const page = await visit(`/c/8453/${address}`, { viewport: { width, height: 900 }, deviceScaleFactor });
    await seeAll(page);
    assert.equal(await page.locator(".grid img").count(), 20);
    const weight = await page.weight();
    assert.ok(weight > 0 && weight <= originals / 20, `${weight} of ${originals} bytes at ${width}`);
    await page.context().close();
  }
});

/** A picture with the weight of a photograph: soft shapes and the grain of a sensor. */
async function photo(seed, file) {
  const page = await newPage(browser);
  const content = await page.evaluate(async (seed) => {
    const canvas = new OffscreenCanvas(1600, 1200);
    const brush = canvas.getContext("2d");
    for (let n = 0; n < 40; n++) {
      brush.fillStyle = `hsl(${(seed * 70 + n * 9) % 360} 60% ${20 + n}% / 40%)`;
      brush.beginPath();
      brush.arc((n * 331) % 1600, (n * 217 + seed * 97) % 1200, 90 + n * 7, 0, 7);
      brush.fill();
    }
    const image = brush.getImageData(0, 0, 1600, 1200);
    for (let at = 0, grain = seed + 1; at < image.data.length; at++) {
      grain = (grain * 1103515245 + 12345) % 2147483648;
      if (at % 4 === 3) image.data[at] = 255;
      else image.data[at] += (grain >> 16) % 7;
    }
    brush.putImageData(image, 0, 0);
    const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }, seed);
  await page.context().close();
  writeFileSync(file, Buffer.from(content, "base64"));
  return file;
}

test("the keyboard alone reaches and works everything on every page", async () => {
  for (const [name, path] of Object.entries(places())) {
    const page = await visit(path);
    const { all, unseen, blind } = await walkByKeyboard(page);
    assert.ok(all > 0, name);
    assert.deepEqual([unseen, blind], [[], []], name);
    await page.context().close();
  }
  const page = await visit(placeOf(1));
  const press = async (label) => {
    for (let presses = 0; presses < 80; presses++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((label) => document.activeElement.textContent.trim() === label, label)) return page.keyboard.press("Enter");
    }
    assert.fail(`${label} can't be reached`);
  };
  await press("Skip to the content");
  await press("Copy link");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), host + placeOf(1));
  await press("Report");
  await page.getByLabel("What is wrong with it?").waitFor();
  await page.context().close();
});

/** Presses Tab until everything was reached: what wasn't, and where the focus can't be seen. */
async function walkByKeyboard(page) {
  const what = "a[href], button, input, select, textarea, summary, audio[controls], video[controls], iframe";
  const count = await page.evaluate((what) => {
    window.wanted = [...document.querySelectorAll(what)].filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && element.tabIndex >= 0);
    [window.reached, window.blind] = [new Set(), []];
    document.addEventListener("focusin", ({ target }) => {
      window.reached.add(target);
      const { outlineStyle, outlineWidth } = getComputedStyle(target);
      if (!(target instanceof HTMLMediaElement) && (outlineStyle === "none" || outlineWidth === "0px")) window.blind.push(target.outerHTML.slice(0, 100));
    });
    return window.wanted.length;
  }, what);
  for (let presses = 0; presses < count * 2 + 40; presses++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => window.wanted.every((element) => window.reached.has(element)))) break;
  }
  return page.evaluate(() => ({
    all: window.wanted.length, blind: window.blind,
    unseen: window.wanted.filter((element) => !window.reached.has(element)).map((element) => element.outerHTML.slice(0, 100)),
  }));
}

test("a visitor reports a moment, a collection and an artist", async () => {
  for (const name of ["moment", "collection", "artist"]) {
    const page = await visit(places()[name], { viewport: { width: 390, height: 844 } });
    await page.getByText("Report", { exact: true }).click();
    await page.getByLabel("What is wrong with it?").selectOption("spam");
    await page.getByLabel("What should we know?").fill("The same picture a hundred times.");
    await page.getByRole("button", { name: "Send the report" }).click();
    await page.getByText("Thank you. The operator of this site will look at it.").waitFor();
    await page.screenshot({ path: `${pictures}/site-report-${name}-390-light.png`, fullPage: true });
    await looksRight(page, `report on ${name}`);
    await page.context().close();
  }
});

test("a visitor without scripts reports a moment, and is answered with a page", async () => {
  const page = await visit(places().moment, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  await page.getByText("Report", { exact: true }).click();
  await page.getByLabel("What is wrong with it?").selectOption("copyright");
  await page.getByRole("button", { name: "Send the report" }).click();
  await page.getByRole("heading", { name: "Thank you" }).waitFor();
  assert.equal(page.url(), `${stack.api}/reports`);
  await page.screenshot({ path: `${pictures}/site-reported-390-light.png` });
  await page.context().close();
});

/** A wallet in the page: what it is asked goes to the node, which signs for the account. */
async function injectWallet(page, account, { batches }) {
  const asked = [];
  await page.exposeFunction("askWallet", async (method, params) => {
    asked.push(method);
    if (method === "eth_requestAccounts") return { result: [account] };
    if (method === "wallet_sendCalls" && !batches) return { error: { code: -32601, message: "unknown method" } };
    if (method === "wallet_sendCalls") {
      for (const call of params[0].calls) await mined({ from: account, ...call });
      return { result: { id: "0x1" } };
    }
    return { result: method === "eth_sendTransaction" ? await mined(params[0]) : await askNode(method, params) };
  });
  await page.addInitScript(() => {
    const request = async ({ method, params = [] }) => {
      const { result, error } = await window.askWallet(method, params);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    };
    const detail = Object.freeze({ info: { uuid: crypto.randomUUID(), name: "Pocket", icon: "data:,", rdns: "example.pocket" }, provider: { request } });
    const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    addEventListener("eip6963:requestProvider", announce);
    announce();
  });
  return asked;
}

for (const batches of [true, false]) {
  test(`a visitor collects with a wallet that ${batches ? "takes calls at once" : "takes one transaction after another"}`, async () => {
    const account = await newAccount();
    // A visitor who comes by their own link collects as well.
    const sender = batches ? `0x${crypto.randomUUID().replaceAll("-", "")}${"1".repeat(8)}` : account;
    const page = await visit(`${placeOf(2)}?ref=${sender}`, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    const asked = await injectWallet(page, account, { batches });
    await page.reload({ waitUntil: "load" });
    await page.getByRole("button", { name: "Collect", exact: true }).click();
    await page.screenshot({ path: `${pictures}/site-wallet-390-light.png`, fullPage: true });
    await looksRight(page, "wallets");
    await page.getByRole("button", { name: "Collect with Pocket" }).click();
    await page.getByText("It is on its way").waitFor();
    assert.ok(asked.includes("wallet_sendCalls"), asked.join());
    const [rewards, balanceOf] = ["0x7777777F279eba3d3Ad8F4E708545291A6fDBA8B", "0x70a08231"];
    const reward = BigInt(await askNode("eth_call", [{ to: rewards, data: `${balanceOf}${sender.slice(2).padStart(64, "0")}` }, "latest"]));
    assert.equal(reward > 0n, batches, "the sender's reward");
    assert.ok((await page.getByLabel("Link to this moment").inputValue()).endsWith(`?ref=${account}`));
    assert.equal(new URL(await page.locator("main a[href*='/c/'], article a[href*='/c/']").first().getAttribute("href"), host).searchParams.get("ref"), sender);
    await found(async () => (await (await fetch(`${host}${placeOf(2)}?n=${crypto.randomUUID()}`)).text()).includes(account.slice(2, 6)), "the collector");
    await page.context().close();
  });
}

test("a visitor collects by mail, on a telephone", async () => {
  const page = await visit(placeOf(2), { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await page.getByRole("button", { name: "Collect", exact: true }).click();
  const email = unusedEmail();
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("The code we sent").waitFor();
  await page.getByLabel("The code we sent").fill(await codeFor(email));
  await page.getByRole("button", { name: "Sign in" }).click();
  const order = page.getByRole("button", { name: /^Collect: / });
  await order.waitFor();
  // An empty account is told what is missing, and where to send it.
  await order.click();
  const account = await page.locator(".collect code").textContent();
  const code = page.getByAltText("QR code of the payment");
  await page.waitForFunction((image) => image.naturalWidth > 0, await code.elementHandle());
  await page.getByText(/^Your account lacks 0\.\d+ ETH/).waitFor();
  await page.screenshot({ path: `${pictures}/site-collect-390-light.png`, fullPage: true });
  await looksRight(page, "collect");
  const [, missing] = /^ethereum:0x[0-9a-f]{40}@8453\?value=(\d+)$/.exec(await page.getByRole("link", { name: "Open in a wallet" }).getAttribute("href"));
  assert.ok((await (await fetch(await code.getAttribute("src"))).text()).includes(`ethereum:${account}@8453?value=${missing}`));
  // Exactly what is missing is enough.
  await askNode("anvil_setBalance", [account, `0x${BigInt(missing).toString(16)}`]);
  await page.getByText(/ETH arrived\.$/).waitFor();
  assert.equal(await code.isVisible(), false);
  await order.click();
  // It is on its way where the chain is slow.
  await page.getByText(/It is (yours\.|on its way)/).waitFor();
  await found(() => hasToken(account, show.address, 2), "the moment");
  await page.context().close();
});

test("from a fresh sign-in to the home page, a card, a feed and another site", async () => {
  const name = `bo.${crypto.randomUUID().slice(0, 6)}`;
  const other = await newArtist(name);
  const { uri, mime } = await upload(other, `${works}low-water.png`);
  const { address, moments } = await publish(other, "Low water", [{ metadata: { name: `Low water ${name}`, image: uri, content: { mime, uri } } }]);
  const path = `/m/8453/${address}/1`;
  await found(async () => (await (await fetch(`${host}/?n=${crypto.randomUUID()}`)).text()).includes(path), "the home page's new moment");
  const page = await visit(`/?n=${crypto.randomUUID()}`, { viewport: { width: 390, height: 844 }, isMobile: true });
  const picture = page.locator(`a[href$="${path}"] img`);
  await picture.scrollIntoViewIfNeeded();
  await page.waitForFunction((image) => image.naturalWidth > 0, await picture.elementHandle());
  await page.goto(host + path);
  const meta = (property) => page.locator(`meta[property="${property}"]`).getAttribute("content");
  const card = await fetch(await meta("og:image"));
  assert.deepEqual([card.status, card.headers.get("content-type"), await meta("og:image:width"), await meta("og:image:height")], [200, "image/png", "1200", "630"]);
  const png = Buffer.from(await card.arrayBuffer());
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1200, 630]);
  const miniapp = JSON.parse(await page.locator('meta[name="fc:miniapp"]').getAttribute("content"));
  assert.deepEqual([miniapp.version, miniapp.button.action.url], ["1", host + path]);
  const data = JSON.parse(await page.locator('script[type="application/ld+json"]').textContent());
  assert.deepEqual([data["@type"], data.url, data.offers["@type"], data.offers.price, data.offers.priceCurrency], ["VisualArtwork", host + path, "Offer", "0", "ETH"]);
  const feed = await (await fetch(`${host}/@${name}/feed.json`)).json();
  assert.equal(feed.items[0].id, moments[0].page);
  // A consumer finds the embed by the page's head alone.
  const discovery = await page.locator('link[type="application/json+oembed"]').getAttribute("href");
  const { html } = await (await fetch(discovery)).json();
  const elsewhere = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(`<!doctype html><title>Elsewhere</title>${html}`));
  await new Promise((listening) => elsewhere.listen(0, "127.0.0.1", listening));
  await page.goto(`http://localhost:${elsewhere.address().port}/`);
  const framed = page.frameLocator("iframe").locator(".work img");
  await framed.evaluate((image) => image.decode());
  assert.ok(await framed.evaluate((image) => image.naturalWidth > 0));
  await page.goto("about:blank");
  elsewhere.close();
  await page.context().close();
});
