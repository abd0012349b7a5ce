// The studio's own works: all of them with pictures, and everything that can be done to one, with real transactions and the
// real indexer. Leaves screenshots in .local/pictures.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { newArtist, publish, send, upload } from "./publisher.mjs";
import { address, askNode, found, giveWallet, isIn, launch, looks, looksRight, open, pictures, proofCodesFor, setNumber, settled, show, stack } from "./support.mjs";

const works = fileURLToPath(new URL("../../local/demo/works/", import.meta.url));
/** An unlocked account that no other test connects: a mailbox gets three codes in ten minutes. */
const WALLET = "0x90f79bf6eb2c4f870365e785982e1f101e93b906";
const FRIEND = `0x${"f1".repeat(20)}`;

let browser, artist, friend, collection;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
  [artist, friend] = [await newArtist(`iris.${crypto.randomUUID().slice(0, 6)}`), await newArtist(`noor.${crypto.randomUUID().slice(0, 6)}`)];
  const { message } = await send(artist, "POST", "artists/wallets/challenge", { address: WALLET });
  const signature = await askNode("personal_sign", [`0x${Buffer.from(message).toString("hex")}`, WALLET]);
  const { proof } = await send(artist, "POST", "artists/proofs", { act: "connectWallet", subject: WALLET });
  const code = await found(async () => (await proofCodesFor(artist.email)).at(-1), "the proof's code");
  await send(artist, "PUT", "artists/proofs", { proof, code });
  await send(artist, "POST", "artists/wallets", { message, signature, proof });
  // One of today signs in without power.
  await setNumber("ArtistTable", `WALLET#${WALLET}`, "ARTIST", "connected_at", 1_700_000_000);
  const files = await Promise.all(["high-water", "spring-tide", "twill"].map((name) => upload(artist, `${works}${name}.png`)));
  const names = ["High water", `<b onclick="alert(1)">Spring</b> tide`, "Twill"];
  const metadata = ({ uri, mime }, n) => ({ metadata: { name: names[n], image: uri, content: { mime, uri } }, price: n ? 0 : 5n * 10n ** 15n });
  collection = (await publish(artist, "Studio", files.map(metadata))).address;
  await found(async () => (await read(`timeline?collection=${collection}`)).moments.length === 3, "the timeline");
  const comment = { tokenId: "2", text: "Whose boat is it?" };
  await send(friend, "POST", "moment/collect", { moment: ref("2"), amount: 1, comment: "Mine now" }, { "idempotency-key": crypto.randomUUID() });
  await send(friend, "POST", `comments/eip155:8453/erc1155:${collection}`, comment);
  await found(async () => (await read(`comments?collectionAddress=${collection}&tokenId=2`)).comments.some(({ comment: text }) => text === comment.text), "the comment");
});
after(async () => {
  if (artist) await send(artist, "DELETE", `artists/wallets?address=${WALLET}`);
  await browser?.close();
});

const ref = (tokenId) => ({ chainId: 8453, collectionAddress: collection, tokenId });
const read = async (path) => (await fetch(`${stack.api}/${path}&n=${crypto.randomUUID()}`)).json();
const moment = (token) => read(`moment?collectionAddress=${collection}&tokenId=${token}`);
const button = (page, name) => page.getByRole("button", { name, exact: true });

async function enter(options = {}) {
  const page = await open(browser, { reducedMotion: "reduce", ...options });
  await giveWallet(page, WALLET);
  await button(page, "Sign in with Test Wallet").click();
  await isIn(page);
  return page;
}

async function choose(page, name) {
  await page.locator("#shelf").getByRole("link", { name }).click();
  await page.getByRole("heading", { name, exact: true }).waitFor();
  await settled(page);
}

for (const { colorScheme, width } of looks) {
  test(`works and one of them, ${colorScheme} at ${width} pixels`, async () => {
    const page = await enter({ colorScheme, viewport: { width, height: 900 } });
    await page.locator("#shelf li").nth(2).waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll("#shelf img")].every(({ naturalWidth }) => naturalWidth > 0));
    await page.screenshot({ path: `${pictures}/studio-moments-${width}-${colorScheme}.png`, fullPage: true });
    await looksRight(page, "moments");
    await choose(page, `<b onclick="alert(1)">Spring</b> tide`);
    await page.getByText("Whose boat is it?").waitFor();
    await page.waitForFunction(() => document.getElementById("moment-picture").naturalWidth > 0);
    await page.screenshot({ path: `${pictures}/studio-moment-${width}-${colorScheme}.png`, fullPage: true });
    await looksRight(page, "moment");
    assert.deepEqual(page.consoleErrors, []);
    await page.context().close();
  });
}

test("price and times are changed, and only what was changed", async () => {
  const page = await enter();
  await choose(page, "High water");
  assert.equal(await page.locator("#moment-price").textContent(), "0.005 ETH");
  await page.locator("#sale-form").getByLabel("Price in ETH").fill("1,000");
  await button(page, "Change the sale").click();
  await page.locator("#sale-price-note .error", { hasText: "two ways" }).waitFor();
  await page.locator("#sale-form").getByLabel("Price in ETH").fill("0.0125");
  await page.getByLabel("Sale ends").fill("2031-05-06T07:08");
  await button(page, "Change the sale").click();
  await button(page, "Leave it").click();
  assert.equal((await moment("1")).sale.pricePerToken, String(5n * 10n ** 15n), "changed without a yes");
  await button(page, "Change the sale").click();
  const asked = page.waitForRequest((request) => request.url().endsWith("/sale"));
  await button(page, "Change it").click();
  assert.deepEqual(Object.keys((await asked).postDataJSON()).sort(), ["moment", "pricePerToken", "saleEnd"]);
  await page.locator("#sale-form .outcome", { hasText: "Changed." }).waitFor();
  const { sale } = await moment("1");
  assert.deepEqual([sale.pricePerToken, sale.saleEnd], [String(125n * 10n ** 14n), String(Date.UTC(2031, 4, 6, 7, 8) / 1000)]);
  assert.equal(await page.locator("#moment-price").textContent(), "0.0125 ETH");
  await button(page, "Change the sale").click();
  await page.locator("#sale-form .outcome", { hasText: "Nothing to change." }).waitFor();
  await page.context().close();
});

test("a moment is hidden and shown, given away, and answered about", async () => {
  const page = await enter();
  await choose(page, `<b onclick="alert(1)">Spring</b> tide`);
  await button(page, "Hide it").click();
  await button(page, "Show it again").waitFor();
  assert.equal((await moment("2")).hidden.length, 1);
  await page.getByRole("link", { name: "All your moments" }).click();
  // While it moves from one list to the other, a look may meet it in neither.
  await found(async () => {
    await show(page, "Publish");
    await show(page, "Moments");
    return page.locator("#shelf li[data-hidden]").getByText("hidden").count();
  }, "the hidden one on the shelf");
  await choose(page, `<b onclick="alert(1)">Spring</b> tide`);
  await button(page, "Show it again").click();
  await button(page, "Hide it").waitFor();

  await page.getByLabel("Give one to").fill("nobody.at.all\n");
  await button(page, "Give them away").click();
  await page.locator("#recipients-note .error", { hasText: "nobody.at.all is nobody’s name" }).waitFor();
  const mailbox = `${crypto.randomUUID()}@example.com`;
  await page.getByLabel("Give one to").fill("vitalik.eth\n");
  await button(page, "Give them away").click();
  await page.locator("#recipients-note .error", { hasText: "vitalik.eth may be somebody else’s name in ENS" }).waitFor();
  await page.getByLabel("Give one to").fill(`${FRIEND}\n@${friend.username}\n${mailbox}`);
  await button(page, "Give them away").click();
  await page.locator("#confirm-yes").click();
  await page.locator("#airdrop-form .outcome", { hasText: "Given away." }).waitFor();
  const given = await found(async () => {
    const { collectors } = await read(`moment/collectors?collectionAddress=${collection}&tokenId=2`);
    const airdrops = collectors.filter(({ type }) => type === "airdrop").map(({ collector }) => collector);
    return airdrops.length >= 3 && airdrops;
  }, "the airdrops");
  assert.equal(given.length, 3);
  assert.ok([FRIEND, friend.account].every((account) => given.includes(account)));

  await button(page, `Reply to ${friend.username}`).first().click();
  await page.keyboard.type("The harbour master’s.");
  await page.keyboard.press("Enter");
  await page.getByText("You: The harbour master’s.").waitFor();
  await found(async () => {
    const { comments } = await read(`comments?collectionAddress=${collection}&tokenId=2`);
    return comments.some(({ replies }) => replies.some(({ comment }) => comment === "The harbour master’s."));
  }, "the reply");
  await page.context().close();
});

test("admins come and go, and a sale pays several", async () => {
  const page = await enter();
  await page.goto(`${address}#moments/8453/${collection}/3`);
  await page.getByRole("heading", { name: "Twill", exact: true }).waitFor();
  await settled(page);
  await page.getByLabel("Another admin").fill(friend.username);
  await button(page, "Add admin").click();
  await button(page, "Make an admin").click();
  await button(page, `Remove ${friend.account}`).waitFor();
  assert.ok((await moment("3")).admins.includes(friend.account));
  await button(page, `Remove ${friend.account}`).click();
  await button(page, "Remove").click();
  await button(page, `Remove ${friend.account}`).waitFor({ state: "detached" });

  const payees = page.getByLabel("Pay somebody else, or several");
  await payees.fill(`${friend.username}\n${artist.account} 40`);
  await button(page, "Pay them from now on").click();
  await page.locator("#payees-note .error", { hasText: "each with its percent" }).waitFor();
  await payees.fill(`${friend.username} 60\n${artist.account} 40 %`);
  await button(page, "Pay them from now on").click();
  await button(page, "Pay them").click();
  await page.locator("#payee-list").getByText("60 %").waitFor();
  await page.locator("#payee-list").getByText("You").waitFor();
  const recipients = await found(async () => (await read(`splits/eip155:8453/${(await moment("3")).sale.fundsRecipient}?`)).recipients, "the split");
  assert.deepEqual(recipients.map(({ percent_allocation }) => percent_allocation).sort(), [40, 60]);
  await page.context().close();
});

test("several files are published at once, and go on after a reload", async () => {
  const page = await enter();
  await show(page, "Publish");
  const folder = mkdtempSync(`${tmpdir()}/works-`);
  const files = ["low-water", "moon-pull"].map((name) => `${folder}/${name}.png`);
  for (const file of files) writeFileSync(file, Buffer.concat([readFileSync(works + basename(file)), Buffer.from(crypto.randomUUID())]));
  const ready = async () => {
    await page.getByLabel("File", { exact: true }).setInputFiles(files);
    await page.getByLabel("Name of moon-pull.png").fill("Moon <i>pull</i>");
  };
  await ready();
  await page.getByLabel("Price", { exact: true }).fill("0.01");
  // The second file never arrives before the page is left.
  let puts = 0;
  await page.route(`${stack.aws}/**`, (route) => (route.request().method() === "PUT" && ++puts === 2 ? undefined : route.continue()));
  await button(page, "Publish").click();
  await page.getByText("Storing file 2 of 2").waitFor();
  await page.reload();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await isIn(page);
  await show(page, "Publish");
  await page.getByText("You were publishing low-water.png, moon-pull.png.").waitFor();
  await looksRight(page, "going on");
  await page.screenshot({ path: `${pictures}/studio-going-on.png`, fullPage: true });
  assert.equal(await page.getByLabel("Price", { exact: true }).inputValue(), "0.01");
  await ready();
  const sent = [];
  page.on("request", (request) => request.method() === "PUT" && sent.push(request.url()));
  await button(page, "Publish").click();
  await page.getByRole("heading", { name: "Published" }).waitFor();
  assert.equal(sent.length, 1, "what had arrived was sent again");
  await page.getByText("2 moments are in").waitFor();
  assert.equal(await page.evaluate(() => Object.keys(sessionStorage).filter((name) => name === "moments_job").length), 0);
  await page.getByRole("link", { name: "See and change it" }).click();
  await found(async () => {
    await show(page, "Publish");
    await show(page, "Moments");
    return (await page.locator("#shelf").getByText("Moon <i>pull</i>").count()) && (await page.locator("#shelf").getByText("low water").count());
  }, "both on the shelf");
  await button(page, "Sign out").click();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await page.context().close();
});
