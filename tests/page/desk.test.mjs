// The operator's desk in a browser: one look, one key, next.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { png } from "./png.mjs";
import { newArtist, publish, upload } from "./publisher.mjs";
import { launch, looks, looksRight, open, pictures, stack } from "./support.mjs";

let browser, folder;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), "desk-"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const MARKUP = `<script>document.title = "taken"</script><img src=x onerror="document.title = 'taken'">`;

/** The file of a picture that nobody else has: removing it removes no other test's. */
function painting() {
  const [width, height] = [480, 360];
  const [red, green, blue] = crypto.getRandomValues(new Uint8Array(3));
  const row = (y) => Buffer.from(Array.from({ length: width }, (_, x) => [(red + x / 4) & 255, (green + y / 3) & 255, blue]).flat());
  const file = join(folder, `${crypto.randomUUID()}.png`);
  writeFileSync(file, png(width, height, 3, row));
  return file;
}

const report = (subject, reason, text) =>
  fetch(`${stack.api}/reports`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ subject, reason, text }) }).then(({ status }) => assert.equal(status, 202));
const at = (subject) => `${stack.desk}?at=${encodeURIComponent(subject)}`;
const about = (subject) => `${stack.desk}about?subject=${encodeURIComponent(subject)}`;
const isShown = (picture) => picture.evaluate(async (element) => (await element.decode(), element.naturalWidth > 0));
const outcome = (page, words) => page.locator("#carried li", { hasText: words }).waitFor();

async function reported() {
  const artist = await newArtist(`desk-${crypto.randomUUID().slice(0, 8)}`);
  const files = [await upload(artist, painting()), await upload(artist, painting())];
  const metadata = ({ uri, mime }, name) => ({ name, image: uri, content: { uri, mime }, description: MARKUP });
  const { address, moments } = await publish(artist, "Reported", [
    { metadata: metadata(files[0], "Harbour"), price: 0 },
    { metadata: metadata(files[1], "Loom"), price: 0 },
    { metadata: metadata(files[0], "Pier"), price: 0 },
  ]);
  const [first, second] = [1, 2].map((token) => `moment#8453#${address.toLowerCase()}#${token}`);
  const place = (tokenId) => ({ moment: { collectionAddress: address, tokenId, chainId: 8453 } });
  await report(place("1"), "spam", "The same again and again");
  await report(place("1"), "copyright", MARKUP);
  await report(place("2"), "illegal");
  await report({ artist: artist.account }, "impersonation", "This isn’t her");
  return { artist, address, moments, files, first, second, person: `artist#${artist.account.toLowerCase()}` };
}

test("one key hides, removes and keeps, and everything comes back", async () => {
  const { address, moments, files, first, second, person } = await reported();
  const page = await open(browser);
  const listed = async () => (await (await fetch(`${stack.api}/timeline?collection=${address}&n=${crypto.randomUUID()}`)).json()).moments.length;

  await page.goto(at(first));
  await page.getByRole("heading", { name: "Harbour" }).waitFor();
  await page.getByText("Reported 2 times, the last time for copyright").waitFor();
  await page.getByText(MARKUP).first().waitFor();
  assert.ok(await isShown(page.getByAltText("The picture")));
  assert.ok(await page.getByRole("radio", { name: "copyright" }).isChecked());
  await page.keyboard.press("1");
  await page.keyboard.press("/");
  await page.keyboard.type("her own drawing, k and h are letters here");
  await page.keyboard.press("Escape");
  await page.keyboard.press("h");
  await outcome(page, `${first} is hidden`);
  assert.equal(await listed(), 2);

  await page.goto(at(second));
  await page.getByRole("heading", { name: "Loom" }).waitFor();
  const picture = page.getByAltText("The picture");
  const veil = () => picture.evaluate((element) => getComputedStyle(element).filter);
  assert.match(await veil(), /blur/, "what may be against the law is looked at by choice");
  await page.keyboard.press("v");
  assert.equal(await veil(), "none");
  await page.keyboard.press("r");
  await outcome(page, `${second} is removed`);
  const file = `${stack.api}/ipfs/${files[1].uri.slice("ipfs://".length)}`;
  assert.equal((await fetch(file)).status, 451);
  assert.equal(await listed(), 1);
  await page.goto(about(second));
  assert.ok(await isShown(page.getByAltText("The picture")), "who decides sees what was removed");

  await page.goto(at(person));
  await page.getByText("This isn’t her").waitFor();
  assert.deepEqual(await page.locator(".works li").allTextContents(), ["Pier"], "works that are decided about are in a list of their own");
  await page.keyboard.press("k");
  await outcome(page, `${person} stays`);
  await page.goto(about(person));
  await page.getByText("Nothing is open about it").waitFor();

  await page.goto(`${stack.desk}decided`);
  await page.getByText("her own drawing, k and h are letters here").first().waitFor();
  for (const subject of [first, second]) {
    await page.locator("ol").getByRole("link", { name: subject }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.keyboard.press("u");
    await outcome(page, `${subject} is as its artists left it`);
    await page.goto(`${stack.desk}decided`);
  }
  assert.equal(await listed(), 3);
  assert.equal((await fetch(file)).status, 200);

  await page.getByLabel("Address or name of something").fill(moments[0].page);
  await page.getByRole("button", { name: "Look", exact: true }).click();
  await page.getByRole("heading", { name: "Harbour" }).waitFor();
  await page.getByLabel("Address or name of something").fill("nothing at all");
  await page.keyboard.press("Enter");
  await page.getByText("nothing at all is nothing here").waitFor();
  assert.notEqual(await page.title(), "taken");
  await page.context().close();
});

test("suspended artist publishes nothing until reinstated", async () => {
  const { artist, second, person } = await reported();
  const page = await open(browser);
  const store = () => fetch(`${stack.api}/metadata`, { method: "POST", headers: { authorization: `Bearer ${artist.token}`, "content-type": "application/json" }, body: `{"name": "${crypto.randomUUID()}"}` });
  await page.goto(at(second));
  await page.keyboard.press("s");
  await outcome(page, `${person} is suspended`);
  assert.equal((await store()).status, 403);
  await page.goto(about(person));
  await page.getByText("suspended for illegal").waitFor();
  await page.keyboard.press("i");
  await outcome(page, `${person} is free to publish`);
  assert.equal((await store()).status, 200);
  await page.context().close();
});

test("whoever doesn’t know the address gets nothing, and the page loads and runs nothing else", async () => {
  for (const path of ["/", "/decided", `/${"0".repeat(32)}/`]) assert.equal((await fetch(new URL(path, stack.desk))).status, 404);
  const { headers } = await fetch(stack.desk);
  assert.match(headers.get("content-security-policy"), /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  const wrong = await fetch(`${stack.desk}decide`, { method: "POST", body: new URLSearchParams({ subject: "song#1", do: "hide" }) });
  assert.equal(wrong.status, 400);
});

test("desk looks right in its themes and widths", async () => {
  const { first, person } = await reported();
  for (const { colorScheme, width } of looks) {
    const page = await open(browser, { colorScheme, viewport: { width, height: 900 } });
    for (const [name, url] of [["moment", at(first)], ["artist", at(person)], ["decided", `${stack.desk}decided`]]) {
      await page.goto(url);
      await page.waitForFunction(() => [...document.images].every((image) => image.complete));
      await page.screenshot({ path: `${pictures}/desk-${name}-${width}-${colorScheme}.png`, fullPage: true });
      await looksRight(page, `desk, ${name}, ${width}, ${colorScheme}`);
    }
    await page.context().close();
  }
});
