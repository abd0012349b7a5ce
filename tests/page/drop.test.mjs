// A sale that is to come, and one that is for a list, on a moment's page and in the studio. Leaves screenshots in
// .local/pictures.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { newArtist, publish, send, upload } from "./publisher.mjs";
import { found, giveWallet, hasToken, launch, looks, looksRight, newAccount, newPage, open, pictures, show, signIn, stack } from "./support.mjs";

const works = fileURLToPath(new URL("../../local/demo/works/", import.meta.url));
const host = new URL(stack.api).origin;
const start = Math.floor(Date.now() / 1000) + 26 * 3600;

let browser, artist, moment, page, collectionAddress;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
  artist = await newArtist(`uma.${crypto.randomUUID().slice(0, 6)}`);
  const { uri, mime } = await upload(artist, `${works}high-water.png`);
  const work = { metadata: { name: "High water", image: uri, content: { mime, uri } }, price: 20000000000000000n, start };
  const { address } = await publish(artist, "To come", [work]);
  collectionAddress = address;
  moment = { collectionAddress, tokenId: "1" };
});
after(() => browser?.close());

const path = () => `${host}/m/8453/${collectionAddress}/1`;

async function visit(options, url = path()) {
  page = await newPage(browser, { locale: "en-GB", ...options });
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  // The page is loaded a while before, and then stands still, half a second after a second began.
  const { at } = options;
  if (at) await page.clock.install({ time: (at - 1_800) * 1000 });
  await page.goto(url);
  if (at) await page.clock.pauseAt((at + 0.5) * 1000);
  return Object.assign(page, { errors });
}

const exact = () => {
  const [date, time] = new Date(start * 1000).toISOString().split("T");
  const day = new Date(`${date}T00:00Z`).toLocaleDateString("en-GB", { timeZone: "UTC", day: "numeric", month: "long", year: "numeric" });
  return `${day}, ${time.slice(0, 5)} UTC`;
};

test("the page counts down in its themes and widths", async () => {
  for (const { colorScheme, width } of looks) {
    await visit({ colorScheme, viewport: { width, height: 900 } });
    await page.getByText(`Opens ${exact()}`).waitFor();
    await page.getByText(/^1 d 0[12]:\d\d:\d\d$/).waitFor();
    assert.ok(await page.getByRole("button", { name: "Collect" }).isDisabled());
    await page.screenshot({ path: `${pictures}/drop-${width}-${colorScheme}.png`, fullPage: true });
    await looksRight(page, `${width} ${colorScheme}`);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  }
});

test("it opens without a reload, says so, and moves nothing", async () => {
  await visit({ at: start - 70, viewport: { width: 390, height: 844 } });
  const place = () => page.locator(".facts").evaluate((element) => element.getBoundingClientRect().top);
  await page.getByText(/^00:01:10$/).waitFor();
  const before = await place();
  await page.clock.runFor(30_000);
  await page.getByText(/^00:00:40$/).waitFor();
  assert.equal(await place(), before);
  assert.ok(await page.getByRole("button", { name: "Collect" }).isDisabled());
  await page.clock.runFor(41_000);
  await page.getByRole("status").filter({ hasText: "It is open now." }).waitFor();
  assert.equal(await place(), before);
  await page.getByRole("button", { name: "Collect" }).click();
  await page.getByLabel("E-mail address").waitFor();
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test("whoever wants less motion sees minutes, and without script the page says when", async () => {
  await visit({ reducedMotion: "reduce", at: start - 3_700 });
  await page.getByText("in 1 h 1 min").waitFor();
  await page.clock.runFor(61_000);
  await page.getByText("in 1 h 0 min").waitFor();
  await page.context().close();
  await visit({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  await page.getByText(`Opens ${exact()} in 1 day`).waitFor();
  assert.equal(await page.getByRole("link", { name: "Collect" }).count(), 0);
  await page.screenshot({ path: `${pictures}/drop-without-script-390-light.png`, fullPage: true });
  await page.context().close();
});

test("an artist sells to a list in the studio, and those of it collect at their price", async () => {
  const [listed, stranger] = [await newAccount(), await newAccount()];
  const studio = await open(browser, { viewport: { width: 1280, height: 900 } });
  await signIn(studio, artist.email);
  await show(studio, "Moments");
  await studio.goto(`${stack.api}/manage#moments/8453/${collectionAddress}/1`);
  await studio.getByText("It is sold to no list.").waitFor();
  await studio.getByLabel("Sell it to").fill(`${artist.username} 2\n${listed} 1 0.001\nnobody at all`);
  await studio.getByRole("button", { name: "Sell it to them" }).click();
  await studio.getByText("can’t be read at “nobody at all”").waitFor();
  await studio.getByLabel("Sell it to").fill(`${artist.username} 2\n${listed} 1 0.001`);
  await studio.getByRole("button", { name: "Sell it to them" }).click();
  await studio.getByRole("dialog").getByRole("button", { name: "Sell it to them" }).click();
  await studio.locator("#list-form .outcome", { hasText: "They can collect it." }).waitFor();
  await studio.getByText(/It is sold to a list until /).waitFor();
  await studio.locator("#list-form").scrollIntoViewIfNeeded();
  await studio.screenshot({ path: `${pictures}/drop-studio-1280-light.png` });
  await looksRight(studio, "the studio");
  await studio.context().close();

  const seen = async () => (await send(null, "GET", `moment?collectionAddress=${collectionAddress}&tokenId=1&n=${crypto.randomUUID()}`)).allowList;
  assert.ok(await found(seen, "the list"));
  for (const account of [stranger, listed]) {
    // Pages are kept for a while.
    await visit({ viewport: { width: 390, height: 844 } }, `${path()}?n=${account}`);
    await giveWallet(page, account);
    await page.getByText("accounts on a list can collect already").waitFor();
    await page.getByRole("button", { name: "Collect", exact: true }).click();
    await page.getByRole("button", { name: "Collect with Test Wallet" }).click();
    if (account === stranger) await page.getByText("is not on").waitFor();
    else await page.getByText("It is on its way").waitFor();
    await page.screenshot({ path: `${pictures}/drop-list-${account === stranger ? "stranger" : "listed"}-390-light.png`, fullPage: true });
    await looksRight(page, "the list");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  }
  await found(() => hasToken(listed, collectionAddress, 1), "the token");
});
