// The page of a claim link in a browser: from the link to the token in three taps, on a telephone. Leaves screenshots in
// .local/pictures.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { newArtist, publish, send, upload } from "./publisher.mjs";
import { askNode, codeFor, found, giveWallet, hasToken, launch, looks, looksRight, newPage, pictures, stack, unusedEmail } from "./support.mjs";

const works = fileURLToPath(new URL("../../local/demo/works/", import.meta.url));
const host = new URL(stack.api).origin;
const telephone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

let browser, artist, moment;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
  artist = await newArtist(`ida.${crypto.randomUUID().slice(0, 6)}`);
  const { uri, mime } = await upload(artist, `${works}high-water.png`);
  const { address: collectionAddress } = await publish(artist, "Given away", [{ metadata: { name: "High water", image: uri, content: { mime, uri } } }]);
  moment = { collectionAddress, tokenId: "1" };
});
after(() => browser?.close());

const link = async (more) => (await send(artist, "POST", "moment/claims", { moment, count: 3, ...more })).url;

async function visit(url, options) {
  const page = await newPage(browser, { locale: "en-GB", ...options });
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  const answer = await page.goto(url);
  return Object.assign(page, { errors, answer });
}

test("a visitor claims in three taps, and has it on the next visit", async () => {
  const url = await link();
  assert.ok(url.startsWith(`${host}/claim/`), url);
  const page = await visit(url, telephone);
  await page.getByText("3 of 3 are left").waitFor();
  await page.getByRole("button", { name: "Claim", exact: true }).tap();
  const email = unusedEmail();
  await page.getByLabel("E-mail address").fill(email);
  await page.screenshot({ path: `${pictures}/claim-email-390-light.png`, fullPage: true });
  await looksRight(page, "the address");
  await page.getByRole("button", { name: "Send me a code" }).tap();
  await page.getByLabel("The code we sent").waitFor();
  // A telephone drops the page while its owner reads the mail.
  await page.reload();
  await page.getByText(`A code is on its way to ${email}.`).waitFor();
  await page.getByLabel("The code we sent").fill(await codeFor(email));
  await page.getByRole("button", { name: "Claim it" }).tap();
  await page.getByText("It is yours.").waitFor();
  await page.screenshot({ path: `${pictures}/claim-done-390-light.png`, fullPage: true });
  await looksRight(page, "the claim");

  await page.goto(url);
  await page.getByText("2 of 3 are left").waitFor();
  await page.getByRole("button", { name: "Claim", exact: true }).tap();
  await page.getByText("It is yours.").waitFor();
  await page.getByRole("link", { name: "Look at it" }).tap();
  await page.waitForURL(`${host}/m/8453/${moment.collectionAddress}/1`);
  assert.deepEqual(page.errors, []);
  await page.goto(url);
  await page.getByText("2 of 3 are left").waitFor();
  await page.context().close();
});

test("a visitor with a wallet claims with it", async () => {
  // One of those that the node has keys of: others that tests act as come after them.
  const account = (await askNode("eth_accounts", []))[8];
  const page = await visit(await link(), telephone);
  await giveWallet(page, account);
  await page.getByRole("button", { name: "Claim", exact: true }).tap();
  const press = page.getByRole("button", { name: "Claim with Test Wallet" });
  await press.tap();
  // It is on its way where the chain is slow.
  await page.getByText(/It is (yours\.|on its way)/).filter({ visible: true }).waitFor();
  await found(() => hasToken(account, moment.collectionAddress, moment.tokenId), "the token");
  await page.context().close();
});

test("the page looks right in its themes and widths, and its code is there to print", async () => {
  const url = await link();
  for (const { colorScheme, width } of looks) {
    const page = await visit(url, { colorScheme, viewport: { width, height: 900 } });
    await page.getByText("Code to print").click();
    await page.getByRole("img", { name: "QR code of this page" }).waitFor();
    await page.screenshot({ path: `${pictures}/claim-${width}-${colorScheme}.png`, fullPage: true });
    await looksRight(page, `${width} ${colorScheme}`);
    if (width === 1440) {
      await page.emulateMedia({ media: "print" });
      await page.screenshot({ path: `${pictures}/claim-print-${colorScheme}.png`, fullPage: true });
      assert.ok(await page.getByRole("img", { name: "QR code of this page" }).isVisible());
      assert.ok(!(await page.getByRole("button", { name: "Claim" }).isVisible()));
    }
    await page.context().close();
  }
});

test("the page's address is kept nowhere, and links that give nothing say so", async () => {
  const url = await link();
  const answer = await fetch(url);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
  assert.match(await answer.text(), /<meta name="robots" content="noindex">/);
  for (const wrong of [`${url.slice(0, -2)}AA`, `${host}/claim/x`, `${host}/claim/%22%3E%3Cscript%3E`]) assert.equal((await fetch(wrong)).status, 404, wrong);
  const { claims } = await send(artist, "GET", "moment/claims");
  await send(artist, "DELETE", `moment/claims?claimId=${claims[0].claimId}`);
  const gone = await fetch(url);
  assert.equal(gone.status, 410);
  assert.match(await gone.text(), /took this link back/);
});
