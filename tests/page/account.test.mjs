// What protects an artist's account on the page: keys that may do little, money that goes only where it was allowed to, the
// list of what happened, and signing out everywhere.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { png } from "./png.mjs";
import { upload } from "./publisher.mjs";
import { artistOf, askNode, codeFor, codesFor, found, giveProof, isIn, launch, looks, looksRight, mailsTo, newsMail, open, pictures, proofCodeFor, setNumber, settled, show, signIn, stack, tokenOf, unusedEmail, wrongCode } from "./support.mjs";

const ETHER = 10n ** 18n;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const button = (page, name) => page.getByRole("button", { name, exact: true });
const has = (page, text) => page.getByText(text).first().waitFor();

test("key is limited as chosen, and shown so", async () => {
  const page = await open(browser);
  await signIn(page);
  await show(page, "Programs");
  await page.getByLabel("Name of a new key").fill("Collector");
  await page.getByLabel("ETH a day").fill("a lot");
  await page.getByLabel("USDC a day").fill("1,000");
  for (const scope of ["Publish and change moments", "Collect with your money"]) await page.getByLabel(scope).uncheck();
  await button(page, "Create key").click();
  await page.locator("#scope-publish-note .error", { hasText: "Choose one" }).waitFor();
  await page.locator("#key-eth-note .error", { hasText: "Must be a number" }).waitFor();
  await page.locator("#key-usdc-note .error", { hasText: "Can be read in two ways: write 1000, or 1.0000" }).waitFor();
  await page.getByLabel("Collect with your money").check();
  await page.getByLabel("ETH a day").fill("0.25");
  await page.getByLabel("USDC a day").fill("7.5");
  await page.getByLabel("It ends").selectOption({ label: "In 30 days" });
  await button(page, "Create key").click();
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  const key = await page.locator("#new-key-value").inputValue();
  await has(page, "collects · spends up to 0.25 ETH and 7.5 USDC a day");
  const { keys } = await (await fetch(`${stack.api}/artists/api-keys`, { headers: { authorization: tokenOf(page) } })).json();
  assert.deepEqual([keys[0].scopes, keys[0].daily_spend], [["collect"], { eth: String(ETHER / 4n), usdc: "7500000" }]);
  const days = (Date.parse(keys[0].expires_at) - Date.parse(keys[0].created_at)) / 86_400_000;
  assert.equal(days, 30);
  const body = JSON.stringify({ name: "Not allowed", uri: "ipfs://x" });
  const requests = async () => (await (await fetch(`${stack.api}/artists/requests?keyId=${keys[0].id}`, { headers: { authorization: tokenOf(page) } })).json()).requests;
  // A note that takes the function too long is given up.
  await found(async () => {
    const refused = await fetch(`${stack.api}/collections`, { method: "POST", headers: { "x-api-key": key, "content-type": "application/json" }, body });
    assert.equal(refused.status, 403);
    return (await requests()).length;
  }, "the request's record");
  await page.getByText("Requests with Collector").click();
  await has(page, "POST /collections · 403: This API key lacks the scope publish");
  assert.deepEqual(page.consoleErrors.filter((error) => !error.includes("400")), []);
  await page.context().close();
});

test("money goes to an address that is a day old, after a fresh code where the sign-in is old", async () => {
  const page = await open(browser);
  const email = await signIn(page);
  const account = await page.locator("#self-address").textContent();
  await askNode("anvil_setBalance", [account, `0x${ETHER.toString(16)}`]);
  const payee = `0x${crypto.randomUUID().replaceAll("-", "").padEnd(40, "0")}`;
  await show(page, "Money");
  await has(page, "Connect a wallet under Account, or add an address");
  await page.getByLabel("Another address").fill(payee);
  await button(page, "Add address").click();
  await has(page, "Money can go there from");
  assert.equal(await page.locator("#out-form").isVisible(), false, "a new address can't be paid");

  const artist = artistOf(page);
  await setNumber("ArtistTable", `PAYOUTS#${artist}`, payee, "added_at", Math.floor(Date.now() / 1000) - 86_400);
  await button(page, "Sign out").click();
  await signIn(page, email);
  await has(page, "Money can go there");
  await page.getByLabel("Amount").fill("0");
  await button(page, "Withdraw").click();
  await page.locator("#amount-note .error", { hasText: "Must be more than 0" }).waitFor();
  await page.getByLabel("Amount").fill("0.25");

  // The service's answer to a token of more than 15 minutes, once.
  let stale = 0;
  await page.route("**/api/smartwallet/withdraw", (route) => {
    if (++stale > 1) return route.continue();
    const headers = { "www-authenticate": 'Bearer error="insufficient_user_authentication", max_age="900"' };
    return route.fulfill({ status: 401, headers, json: { status: "error", message: "Sign in again" } });
  });
  const before = (await codesFor(email)).length;
  await button(page, "Withdraw").click();
  await button(page, "Send it").click();
  await page.getByRole("heading", { name: "Is it you?" }).waitFor();
  const code = await codeFor(email, before);
  await page.getByLabel("Money needs a fresh sign-in.").fill(wrongCode(code));
  await page.locator("#again-code-note .error").waitFor();
  assert.equal((await codesFor(email)).length, before + 1);
  await page.getByLabel("Money needs a fresh sign-in.").fill(code);
  await page.getByText("Sent 0.25 ETH.").waitFor();
  assert.equal(BigInt(await askNode("eth_getBalance", [payee, "latest"])), ETHER / 4n);
  await settled(page);
  await page.locator("#balance-list").getByText("0.75", { exact: true }).waitFor();

  // All of the rest, and what was done is on record.
  await page.getByLabel("Amount").fill("max");
  await button(page, "Withdraw").click();
  await button(page, "Don't").click();
  assert.equal(BigInt(await askNode("eth_getBalance", [payee, "latest"])), ETHER / 4n, "money was sent without a yes");
  await button(page, "Withdraw").click();
  await button(page, "Send it").click();
  await page.getByText("Sent all your ETH.").waitFor();
  assert.equal(BigInt(await askNode("eth_getBalance", [payee, "latest"])), ETHER);
  await button(page, `Remove ${payee}`).click();
  await button(page, "Remove").click();
  await has(page, "You have added none.");
  await show(page, "Account");
  await page.locator("#activity-list li", { hasText: `Payout address removed ${payee}` }).waitFor();
  await page.locator("#activity-list", { hasText: `0.25 ETH to ${payee}` }).waitFor();
  await button(page, "Show older").click();
  await button(page, "Show older").waitFor({ state: "hidden" });
  const kinds = await page.locator("#activity-list [data-slot=kind]").allTextContents();
  for (const kind of ["Signed in", "Signed out", "Payout address added", "Payout address removed", "Money sent"]) assert.ok(kinds.includes(kind), kind);
  await button(page, "Show works").click();
  await page.locator("#activity-list li").first().waitFor({ state: "detached" });
  await button(page, "Show account").click();
  await page.locator("#activity-list li", { hasText: `Payout address removed ${payee}` }).waitFor();
  await page.context().close();
});

test("a file that nothing shows is deleted, at each width and in both looks", async () => {
  for (const { colorScheme, width } of looks) {
    const page = await open(browser, { colorScheme, viewport: { width, height: 900 } });
    await signIn(page);
    // A file that no other test's moment shows.
    const folder = mkdtempSync(join(tmpdir(), "moments-"));
    writeFileSync(join(folder, "own.png"), png(9, 9, 3, () => randomBytes(27)));
    await upload({ token: tokenOf(page).replace("Bearer ", "") }, join(folder, "own.png"));
    rmSync(folder, { recursive: true });
    await show(page, "Account");
    await page.locator("#file-list li", { hasText: "in nothing" }).waitFor();
    await settled(page);
    await page.locator("#files").scrollIntoViewIfNeeded();
    await page.locator("#files").screenshot({ path: `${pictures}/files-${width}-${colorScheme}.png` });
    await looksRight(page, `files at ${width}`);
    await page.getByRole("button", { name: /^Delete image\/png/ }).click();
    await button(page, "Delete it").click();
    await page.locator("#files .when-empty").waitFor();
    await page.context().close();
  }
});

test("signing out ends the token, and everywhere ends them all", async () => {
  const [page, other] = [await open(browser), await open(browser)];
  const email = await signIn(page);
  await signIn(other, email);
  await show(other, "Programs");
  const third = await open(browser);
  await signIn(third, email);
  const ended = tokenOf(third);
  const sent = third.waitForResponse((response) => response.url().endsWith("/oauth/logout"));
  await button(third, "Sign out").click();
  assert.equal((await sent).status(), 200);
  assert.equal((await fetch(`${stack.api}/artists/api-keys`, { headers: { authorization: ended } })).status, 401);

  await show(page, "Account");
  await button(page, "Sign out everywhere").click();
  await button(page, "Stay").click();
  await button(page, "Sign out everywhere").click();
  await page.locator("#confirm-yes").click();
  await has(page, "You are signed out everywhere.");
  await button(other, "Create key").click();
  await has(other, "Your session has ended.");
  for (const one of [page, other, third]) await one.context().close();
});

test("another session is ended, and signing out everywhere ends keys where that is chosen", async () => {
  const [page, other] = [await open(browser), await open(browser)];
  const email = await signIn(page);
  await signIn(other, email);
  const ended = tokenOf(other);
  const token = tokenOf(page);
  const made = await fetch(`${stack.api}/artists/api-keys`, { method: "POST", headers: { authorization: token, "content-type": "application/json" }, body: "{}" });
  const { apiKey } = await made.json();
  await show(page, "Account");
  await page.locator("#session-list", { hasText: "This session" }).waitFor();
  await page.locator("#session-list li:not(:has-text('This session'))").getByRole("button", { name: /^End/ }).click();
  await page.locator("#session-list li:not(:has-text('This session'))").waitFor({ state: "detached" });
  assert.equal((await fetch(`${stack.api}/me`, { headers: { authorization: ended } })).status, 401);
  assert.equal((await fetch(`${stack.api}/me`, { headers: { authorization: token } })).status, 200);
  await page.getByLabel("API keys, too").check();
  await button(page, "Sign out everywhere").click();
  await has(page, "API keys stop working for good");
  await page.locator("#confirm-yes").click();
  await has(page, "You are signed out everywhere.");
  assert.equal((await fetch(`${stack.api}/me`, { headers: { "x-api-key": apiKey } })).status, 401);
  for (const one of [page, other]) await one.context().close();
});

test("another mail address is proved by two codes, and stopped by the present one", async () => {
  const page = await open(browser);
  const email = await signIn(page);
  const next = unusedEmail();
  await show(page, "Account");
  await page.locator("#mail-now", { hasText: email }).waitFor();
  await page.getByLabel("New mail address").fill(next);
  await button(page, "Change it").click();
  await giveProof(page, next);
  const code = await proofCodeFor(page, email);
  await page.getByLabel(`Code that went to ${email}`).fill(wrongCode(code));
  await page.locator("#proof-code-note .error", { hasText: "Is wrong" }).waitFor();
  await looksRight(page, "asked for a proof");
  await page.getByLabel(`Code that went to ${email}`).fill(code);
  await page.locator("#mail-next", { hasText: next }).waitFor();
  await button(page, "Keep the present one").click();
  await page.locator("#confirm-yes").click();
  await page.locator("#mail-next").waitFor({ state: "hidden" });
  await page.locator("#mail-now", { hasText: email }).waitFor();
  assert.deepEqual(page.consoleErrors.filter((error) => !error.includes("400")), []);
  await page.context().close();
});

test("mails of collects and comments are chosen, and their link stops them without a sign-in", async () => {
  const page = await open(browser);
  const email = await signIn(page);
  await show(page, "Account");
  const choice = page.getByLabel("Mails of collects and comments");
  assert.equal(await choice.inputValue(), "daily");
  await choice.selectOption("As it happens");
  await has(page, "Saved.");
  const link = (await newsMail(page, email)).BodyText.match(/https?:\S+#unsubscribe=\S+/)[0];

  const visitor = await open(browser);
  await visitor.goto(link.replace(/\.[^.]+$/, `.${crypto.randomUUID()}`));
  await button(visitor, "Stop these mails").click();
  await has(visitor, "No mails have this link");
  await visitor.goto("about:blank");
  await visitor.goto(link);
  await button(visitor, "Stop these mails").waitFor();
  assert.equal(await visitor.evaluate(() => location.hash), "", "the secret stays in no history");
  await button(visitor, "Stop these mails").click();
  await has(visitor, "They are stopped");
  await button(visitor, "Sign in and choose how often").click();
  await visitor.locator("#email-form").waitFor();

  await page.reload();
  await isIn(page);
  await show(page, "Account");
  await settled(page);
  assert.equal(await choice.inputValue(), "none");
  assert.deepEqual([...page.consoleErrors, ...visitor.consoleErrors].filter((error) => !error.includes("404")), []);
  for (const one of [page, visitor]) await one.context().close();
});

test("data is downloaded, and an account that is to be deleted is kept by signing in", async () => {
  const page = await open(browser);
  const email = await signIn(page);
  const account = await page.locator("#self-address").textContent();
  await show(page, "Account");
  const downloading = page.waitForEvent("download");
  await button(page, "Download it").click();
  const rows = JSON.parse(readFileSync(await (await downloading).path(), "utf8"));
  assert.ok(rows.length > 1 && JSON.stringify(rows).includes(email), "the address is among it");

  await askNode("anvil_setBalance", [account, "0x1"]);
  await button(page, "Delete account").click();
  await button(page, "Keep it").click();
  await button(page, "Delete account").click();
  await button(page, "Delete it").click();
  await page.getByRole("heading", { name: "Leave your money behind?" }).waitFor();
  await button(page, "Leave it").last().click();
  await has(page, "Your account will be erased on");
  await signIn(page, email);
  await page.locator("#activity-list", { hasText: "Deletion taken back" }).waitFor();
  await page.context().close();
});
