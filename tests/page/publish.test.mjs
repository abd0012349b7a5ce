// "Publish a moment" on the page, with real uploads, transactions and the real indexer: from a fresh sign-in to a moment on
// the timeline whose file the browser shows.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { png } from "./png.mjs";
import { newArtist } from "./publisher.mjs";
import { elsewhere, found, gate, launch, looksRight, newPage, open, pictures, show, signIn, stack } from "./support.mjs";

let browser;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
});
after(() => browser?.close());

const button = (page, name) => page.getByRole("button", { name, exact: true });
const read = async (path) => (await fetch(`${stack.api}/${path}`)).json();

/** A PNG of noise, 64 × 64, that nobody else has. */
const picture = () => png(64, 64, 1, () => randomBytes(64));

/** A film of a second, as the browser records it. */
async function film() {
  const page = await newPage(browser);
  const content = await page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [96, 64];
    const brush = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm" });
    const pieces = [];
    recorder.ondataavailable = ({ data }) => pieces.push(data);
    const ended = new Promise((done) => (recorder.onstop = done));
    recorder.start();
    for (let frame = 0; frame < 25; frame++) {
      brush.fillStyle = `hsl(${Math.random() * 360} 80% 50%)`;
      brush.fillRect(0, 0, 96, 64);
      await new Promise((done) => setTimeout(done, 40));
    }
    recorder.stop();
    await ended;
    return Array.from(new Uint8Array(await new Blob(pieces).arrayBuffer()));
  });
  await page.context().close();
  return Buffer.from(content);
}

/** The moment on its collection's timeline. */
async function onTimeline(page) {
  const [, , collection, token] = (await page.locator("#published-moment").getAttribute("href")).split("/");
  return found(async () => {
    const { moments } = await read(`timeline?collection=${collection}&n=${crypto.randomUUID()}`);
    return moments?.find((moment) => moment.token_id === token && moment.metadata);
  }, "the moment on the timeline");
}

test("picture is published at a price, shown from its CID and on the timeline", async () => {
  const page = await open(browser, { viewport: { width: 360, height: 740 }, colorScheme: "dark", reducedMotion: "reduce" });
  await signIn(page);
  await show(page, "Publish");
  const content = picture();
  await page.getByLabel("File", { exact: true }).setInputFiles({ name: "fog.png", mimeType: "image/png", buffer: content });
  await page.getByLabel("Name", { exact: true }).fill("Fog <b>");
  await page.getByLabel("Description").fill("It came in at four.");
  await page.getByLabel("Price", { exact: true }).fill("0,05");
  await page.getByLabel("Copies").fill("7");
  await page.getByLabel("Name of the new collection").fill("Weather diary");
  await page.waitForFunction(() => document.querySelector("#preview-list img")?.naturalWidth === 64);
  assert.equal((await page.locator("#preview").innerText()).replaceAll(/\n+/g, "\n"), "How it will look\nFog <b>\n0,05 ETH · 7 copies\nIt came in at four.");
  await page.screenshot({ path: `${pictures}/preview-360-dark.png`, fullPage: true });
  await looksRight(page, "preview");
  await button(page, "Publish").click();
  await page.getByRole("heading", { name: "Published" }).waitFor();
  const shown = page.locator("#published-picture");
  await page.waitForFunction(() => document.getElementById("published-picture").naturalWidth === 64);
  const file = new URL(await shown.getAttribute("src"), stack.api + "/").href;
  assert.deepEqual(Buffer.from(await (await fetch(file)).arrayBuffer()), content);
  await page.screenshot({ path: `${pictures}/published-360-dark.png`, fullPage: true });
  await looksRight(page, "published");

  const moment = await onTimeline(page);
  assert.equal(moment.metadata.name, "Fog <b>");
  assert.equal(moment.metadata.description, "It came in at four.");
  assert.equal(moment.metadata.image, `ipfs://${file.split("/ipfs/")[1]}`);
  assert.equal(moment.sale.pricePerToken, String(5n * 10n ** 16n));
  await page.getByRole("link", { name: "Its page" }).waitFor();
  assert.equal(await page.locator("#published-page").getAttribute("href"), moment.page);

  // The next one goes into the same collection, which is asked for no name.
  await button(page, "Publish another").click();
  assert.equal(await page.getByLabel("Name of the new collection").isVisible(), false);
  await page.getByRole("radio", { name: "Text" }).check();
  await page.getByLabel("Name", { exact: true }).fill("High water");
  await page.locator("#text").fill("The sea came in at four.\nIt stayed.");
  await button(page, "Publish").click();
  await page.getByRole("heading", { name: "Published" }).waitFor();
  const text = await onTimeline(page);
  assert.equal(text.metadata.name, "High water");
  assert.equal(text.metadata.content.mime, "text/plain");
  assert.equal(text.collection?.address ?? text.address, moment.collection?.address ?? moment.address);
  assert.deepEqual(elsewhere(page), []);
  assert.deepEqual(page.consoleErrors, []);
  await page.context().close();
});

test("film is stored although the connection breaks, and plays", async () => {
  const page = await open(browser, { reducedMotion: "reduce" });
  await signIn(page);
  await show(page, "Publish");
  let tries = 0;
  await page.route(`${stack.aws}/**`, (route) => {
    if (route.request().method() === "PUT" && (tries += 1) === 1) return route.abort("connectionreset");
    return route.continue();
  });
  await page.getByLabel("File", { exact: true }).setInputFiles({ name: "loop.webm", mimeType: "video/webm", buffer: await film() });
  await page.getByLabel("Name", { exact: true }).fill("Loop");
  await button(page, "Publish").click();
  await page.getByRole("heading", { name: "Published" }).waitFor();
  assert.equal(tries, 2);
  const video = page.locator("#published-video");
  await video.evaluate((element) => {
    element.muted = true;
    return element.play();
  });
  await page.waitForFunction((element) => element.ended, await video.elementHandle());
  assert.deepEqual(await video.evaluate((element) => [element.videoWidth, element.currentTime > 0.3]), [96, true]);
  const moment = await onTimeline(page);
  assert.equal(moment.metadata.content.mime, "video/webm");
  await page.context().close();
});

test("film has a poster, says what it shows, is sold later and pays two", async () => {
  const page = await open(browser, { viewport: { width: 360, height: 740 }, reducedMotion: "reduce" });
  await signIn(page);
  const self = await page.locator("#self-address").textContent();
  const other = await newArtist(`paid-${crypto.randomUUID().slice(0, 8)}`);
  await show(page, "Publish");
  assert.equal(await page.getByLabel("Poster or cover").isVisible(), false);
  await page.getByLabel("File", { exact: true }).setInputFiles({ name: "loop.webm", mimeType: "video/webm", buffer: await film() });
  await page.getByLabel("Name", { exact: true }).fill("Loop at night");
  await page.getByText("More: what it shows").click();
  await page.getByLabel("What it shows").fill("Colours <i>change");
  const poster = picture();
  await page.getByLabel("Poster or cover").setInputFiles({ name: "poster.png", mimeType: "image/png", buffer: poster });
  await page.getByLabel("Opens", { exact: true }).fill("2030-01-02T10:00");
  await page.getByLabel("Closes", { exact: true }).fill("2030-01-01T10:00");
  await page.getByLabel("Royalty on resale").fill("2.5");
  await page.getByLabel("Paid to").fill(`${other.username} 60\n${self} 40 %`);
  await page.screenshot({ path: `${pictures}/publish-more-360-light.png`, fullPage: true });
  await looksRight(page, "more of a moment");
  await page.getByText("More: what it shows").click();
  await button(page, "Publish").click();
  await page.locator("#closes-note .error", { hasText: "Must be later than it opens" }).waitFor();
  await page.getByLabel("Closes", { exact: true }).fill("2030-02-01T10:00");
  await button(page, "Publish").click();
  await page.getByRole("heading", { name: "Published" }).waitFor();

  const moment = await onTimeline(page);
  assert.equal(moment.metadata.alt, "Colours <i>change");
  assert.equal(moment.royalty.bps, 250);
  assert.equal(moment.metadata.content.mime, "video/webm");
  const stored = await fetch(`${stack.api}/ipfs/${moment.metadata.image.slice("ipfs://".length)}`);
  assert.deepEqual(Buffer.from(await stored.arrayBuffer()), poster);
  assert.deepEqual([moment.sale.saleStart, moment.sale.saleEnd], ["2030-01-02T10:00Z", "2030-02-01T10:00Z"].map((time) => String(Date.parse(time) / 1000)));
  const recipients = await found(async () => (await read(`splits/eip155:8453/${moment.sale.fundsRecipient}`)).recipients, "the split");
  const shares = Object.fromEntries(recipients.map(({ artist_address, percent_allocation }) => [artist_address, Number(percent_allocation)]));
  assert.deepEqual(shares, { [other.account.toLowerCase()]: 60, [self]: 40 });
  const visitor = await newPage(browser);
  await visitor.goto(moment.page);
  await visitor.getByLabel("Colours <i>change").waitFor();
  await visitor.context().close();
  await page.context().close();
});

test("what is wrong is said at its field, an upload can be stopped, and nothing is published", async () => {
  const page = await open(browser, { reducedMotion: "reduce" });
  await signIn(page);
  await show(page, "Publish");
  await page.getByLabel("Price", { exact: true }).fill("much");
  await page.getByLabel("Copies").fill("0");
  await button(page, "Publish").click();
  for (const [field, words] of [["file", "Choose one."], ["title", "Is required."], ["price", "Must be a number"], ["supply", "Must be a whole number"]]) {
    await page.locator(`#${field}-note .error`, { hasText: words }).waitFor();
  }
  assert.equal(await page.evaluate(() => document.activeElement.id), "file");

  // A page that calls itself a picture.
  await page.getByLabel("File", { exact: true }).setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from("<!doctype html><script>alert(1)</script>") });
  await page.getByLabel("Name", { exact: true }).fill("A page");
  await page.getByLabel("Price", { exact: true }).fill("1");
  await page.getByLabel("Copies").fill("");
  await button(page, "Publish").click();
  await page.locator("#file-note .error").waitFor();
  await page.screenshot({ path: `${pictures}/publish-refused.png`, fullPage: true });

  // Less than the least price in this currency: the service says so at the price.
  await page.getByLabel("File", { exact: true }).setInputFiles({ name: "b.png", mimeType: "image/png", buffer: picture() });
  await page.locator("#currency").selectOption({ label: "USDC" });
  await page.getByLabel("Price", { exact: true }).fill("0.000001");
  await button(page, "Publish").click();
  await page.locator("#price-note .error", { hasText: "10000" }).waitFor();

  // Before the service has said where the file goes, while it is sent, and while the service looks at it.
  for (const [name, step] of [["c.png", "**/uploads"], ["d.png", `${stack.aws}/**`], ["e.png", "**/uploads/*/complete"]]) {
    const { held, release } = gate();
    const asked = page.waitForRequest(step);
    await page.route(step, async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await page.getByLabel("File", { exact: true }).setInputFiles({ name, mimeType: "image/png", buffer: picture() });
    await button(page, "Publish").click();
    await asked;
    if (name === "d.png") {
      await page.getByText("Storing the file: 0 %").waitFor();
      await looksRight(page, "uploading");
      await page.screenshot({ path: `${pictures}/publish-progress.png`, fullPage: true });
    }
    await button(page, "Stop").click();
    // A file that is being sent is given up; an answer is waited for.
    if (name !== "d.png") release();
    await page.getByText("Stopped. Nothing was published.").waitFor();
    release();
    await page.unroute(step);
  }
  const account = await page.locator("#self-address").textContent();
  assert.deepEqual((await read(`collections?artist=${account}`)).collections, []);
  await page.context().close();
});
