// Support for the page's tests: the running stack, a browser, and signing in on the page.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { PATIENCE, found, gate } from "./patience.mjs";

export { found, gate };

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The running stack's addresses. */
export const stack = JSON.parse(readFileSync(process.env.MOMENTS_STACK ?? join(root, ".local/stack.json"), "utf8"));

/** Folder for screenshots. */
export const pictures = join(root, ".local/pictures");

const everyLook = ["light", "dark"].flatMap((colorScheme) => [360, 768, 1440].map((width) => ({ colorScheme, width })));

/** Themes and widths that pages are looked at in: each once, and every pair where `LOOKS=all` is set, as `make soak` does. */
export const looks = everyLook.filter(({ colorScheme, width }) => process.env.LOOKS === "all" || (colorScheme === "dark") === (width === 1440));

/** The address of the page. */
export const address = `${stack.api}/manage`;

const browsers = ["chromium", "chromium-browser", "google-chrome"];

/**
 * Launches an installed browser: where there is one, the shell without windows, which draws the same pages with half the
 * work; for files that a page isn't made of, such as documents to print, one that `isWhole`. Chromium's sandbox needs a user
 * other than root.
 */
export async function launch({ isWhole = false } = {}) {
  const find = (isWhole ? browsers : ["chromium-headless-shell", ...browsers]).map((name) => `command -v ${name}`).join(" || ");
  const executablePath = process.env.CHROMIUM ?? execFileSync("sh", ["-c", find], { encoding: "utf8" }).trim();
  return chromium.launch({ executablePath, timeout: PATIENCE, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

/** A page of a context of its own. */
export async function newPage(browser, options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE);
  return context.newPage();
}

/**
 * Opens a separate page, and collects its errors in `consoleErrors` and its requests in `requests`. With `hasClock` the test
 * can stop and advance its time.
 */
export async function open(browser, { hasClock, ...options } = {}) {
  const page = await newPage(browser, { viewport: { width: 1280, height: 900 }, locale: "en-GB", timezoneId: "UTC", ...options });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(stack.api).origin });
  const [consoleErrors, requests] = [[], []];
  page.on("console", (message) => message.type() === "error" && consoleErrors.push(message.text()));
  page.on("pageerror", (error) => consoleErrors.push(error.message));
  page.on("request", (request) => requests.push(request));
  if (hasClock) await page.clock.install();
  await page.goto(address);
  return Object.assign(page, { consoleErrors, requests });
}

export const unusedEmail = () => `${crypto.randomUUID().replaceAll("-", "")}@example.com`;

/** The mails to an address, oldest first. */
export async function mailsTo(email) {
  const { messages } = await (await fetch(stack.mail)).json();
  return Object.values(messages).flat().filter((mail) => mail.To.some((to) => to.toLowerCase() === email.toLowerCase()));
}

/** The codes mailed to an address, newest last. */
export async function codesFor(email) {
  return (await mailsTo(email)).flatMap((mail) => mail.BodyText.match(/sign-in code is (\d{6})/)?.[1] ?? []);
}

/** The newest code mailed to an address after the first `known`, once it is there. */
export const codeFor = (email, known = 0) => found(async () => (await codesFor(email)).slice(known).at(-1), `code mailed to ${email}`);

/** Codes of proofs mailed to an address, oldest first. */
export async function proofCodesFor(email) {
  return (await mailsTo(email)).flatMap((mail) => mail.BodyText.match(/The code is (\d{6})/)?.[1] ?? []);
}

/** The newest code of a proof after the first `known`, once the page asks for it. */
export async function proofCodeFor(page, email, known = 0) {
  await page.getByLabel(`Code that went to ${email}`).waitFor();
  return found(async () => (await proofCodesFor(email)).slice(known).at(-1), `proof mailed to ${email}`);
}

/** Gives the proof that the page asks for. */
export async function giveProof(page, email, known = 0) {
  const code = await proofCodeFor(page, email, known);
  const input = page.getByLabel(`Code that went to ${email}`);
  await input.fill(code);
  await input.waitFor({ state: "hidden" });
}

/** A code that a mailed one isn't. */
export const wrongCode = (code) => (code === "000000" ? "000001" : "000000");

/** The sign-in link in the newest mail to an address. */
export async function newestLink(email) {
  return (await mailsTo(email)).at(-1)?.BodyText.match(/https?:\S+#link=\S+/)?.[0];
}

/** Requests a code on the page and reads it from the mail. */
export async function askForCode(page, email) {
  const known = (await codesFor(email)).length;
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("The code we sent").waitFor();
  return codeFor(email, known);
}

/** Signs in on the page. */
export async function signIn(page, email = unusedEmail()) {
  const code = await askForCode(page, email);
  await page.getByLabel("The code we sent").fill(code);
  await isIn(page);
  return email;
}

/** Waits until somebody is signed in. */
export async function isIn(page) {
  await page.getByRole("navigation", { name: "Studio" }).waitFor();
  await settled(page);
}

/** Opens a tab of the studio. */
export async function show(page, tab) {
  await page.getByRole("navigation", { name: "Studio" }).getByRole("link", { name: tab, exact: true }).click();
  await page.locator(`#tab-${tab.toLowerCase()}`).waitFor();
  await settled(page);
}

/** Waits until no part of the page that is shown is loading: neither what it shows nor what listens to it. */
export async function settled(page) {
  await page.waitForFunction(() => [...document.querySelectorAll("[data-state=loading], [inert]")].every((part) => !part.checkVisibility()));
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Asserts that the page, once its colours have faded in, has no accessibility violation and isn't wider than the window. */
export async function looksRight(page, state) {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  assert.ok(!wider, `${state} is wider than the window`);
  // `evaluate` isn't subject to the page's content security policy.
  await page.evaluate(axe);
  let found;
  for (const end = Date.now() + PATIENCE; found?.length !== 0 && Date.now() < end; ) {
    if (found) await page.waitForTimeout(500);
    const { violations } = await page.evaluate(async () => {
      const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime < Infinity);
      await Promise.allSettled(ending.map(({ finished }) => finished));
      return window.axe.run(document, { resultTypes: ["violations"] });
    });
    found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  }
  assert.deepEqual(found, [], state);
}

/** The page's requests to other origins than the service's own, its bucket's and its files'. */
export const elsewhere = (page) => {
  const own = [new URL(stack.api).origin, stack.aws, stack.files];
  return page.requests.map((request) => request.url()).filter((url) => !/^(data|blob|about):/.test(url) && !own.includes(new URL(url).origin));
};

/** The token that a page uses. */
export const tokenOf = (page) => page.requests.map((request) => request.headers().authorization).findLast(Boolean);

/** Id of the artist who is signed in on a page. */
export const artistOf = (page) => JSON.parse(Buffer.from(tokenOf(page).split(".")[1], "base64url").toString()).sub;

/** Answers the page's requests to an endpoint in place of the service. */
export function answer(page, path, body, status = 200) {
  return page.route((url) => url.pathname === `/api/${path}`, (route) => route.fulfill({ status, json: body }));
}

async function askDatabase(operation, request) {
  const response = await fetch(stack.dynamodb, {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `DynamoDB_20120810.${operation}`,
      "x-amz-date": "20260101T000000Z",
      authorization: "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0",
    },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(`DynamoDB: ${await response.text()}`);
}

/** Sets one numeric field of a row. */
export const setNumber = (table, pk, sk, field, value) => askDatabase("UpdateItem", {
  TableName: table,
  Key: { pk: { S: pk }, sk: { S: sk } },
  UpdateExpression: "SET #field = :value",
  ExpressionAttributeNames: { "#field": field },
  ExpressionAttributeValues: { ":value": { N: String(value) } },
});

/** Has the passkeys of the artist who is signed in on a page be older than a day; the page learns of it after a reload. */
export async function agePasskeys(page) {
  const artist = artistOf(page);
  const { passkeys } = await (await fetch(`${stack.api}/artists/passkeys`, { headers: { authorization: tokenOf(page) } })).json();
  for (const { id } of passkeys) await setNumber("SecretTable", `PASSKEYS#${artist}`, id, "created_at", 1_700_000_000);
  await askDatabase("UpdateItem", {
    TableName: "SecretTable",
    Key: { pk: { S: `SESSIONS#${artist}` }, sk: { S: "PASSKEYS" } },
    UpdateExpression: "SET passkeys = :all",
    ExpressionAttributeValues: { ":all": { L: passkeys.map(({ id }) => ({ M: { id: { S: id }, counts_from: { N: "1700086400" } } })) } },
  });
}

/** Has the artist who is signed in on a page be mailed of two comments on a work of the demo, and returns the mail. */
export async function newsMail(page, email) {
  const artist = artistOf(page);
  const [{ address }] = stack.demo.collections;
  const end = String(Math.round(Date.now() / 1000) + 3600);
  const news = { chain_id: { N: "8453" }, collection: { S: address }, token_id: { S: "1" }, expires_at: { N: end } };
  const put = (pk, sk, fields) => askDatabase("PutItem", { TableName: "ArtistTable", Item: { pk: { S: pk }, sk: { S: sk }, ...fields } });
  for (const event of [crypto.randomUUID(), crypto.randomUUID()]) await put(`NEWS#${artist}`, event, { event: { S: event }, ...news });
  await put("NEWS_DUE", `000000000001#${artist}`, { due: { N: "1" }, artist_id: { S: artist } });
  const event = readFileSync(join(root, "events/mail-news.json"), "utf8");
  return found(async () => {
    await fetch(`${stack.lambda}/2015-03-31/functions/mail-news/invocations`, { method: "POST", body: event });
    return (await mailsTo(email)).find((mail) => mail.BodyText.includes("#unsubscribe="));
  }, "the mail");
}

/** Calls a method of the default chain's node. */
export async function askNode(method, params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await (await fetch(stack.rpc["8453"], { method: "POST", headers: { "content-type": "application/json" }, body })).json();
  if (answer.error) throw new Error(answer.error.message);
  return answer.result;
}

/** A new account with an ether, for which the default chain's node sends and does not sign: no other test uses it. */
export async function newAccount() {
  const account = `0x${crypto.randomUUID().replaceAll("-", "")}${"0".repeat(8)}`;
  await askNode("anvil_setBalance", [account, "0xde0b6b3a7640000"]);
  await askNode("anvil_impersonateAccount", [account]);
  return account;
}

/** Sends a transaction of an account that the default chain's node signs for, and returns its hash once it is mined. */
export async function mined(transaction) {
  const hash = await askNode("eth_sendTransaction", [transaction]);
  await found(() => askNode("eth_getTransactionReceipt", [hash]), `receipt of ${hash}`);
  return hash;
}

/** Whether an account has a token of a collection. */
export async function hasToken(account, collection, token) {
  const words = [account.slice(2).toLowerCase(), BigInt(token).toString(16)].map((word) => word.padStart(64, "0"));
  return BigInt(await askNode("eth_call", [{ to: collection, data: `0x00fdd58e${words.join("")}` }, "latest"])) > 0n;
}

/** Gives the page a wallet (EIP-1193), for which the local chain's node signs. */
export async function giveWallet(page, account) {
  await page.exposeFunction("askNode", askNode);
  await page.addInitScript((account) => {
    const provider = {
      declines: false,
      async request({ method, params }) {
        if (this.declines) throw Object.assign(new Error("declined"), { code: 4001 });
        return method === "eth_requestAccounts" ? [account] : window.askNode(method, params);
      },
    };
    window.testWallet = provider;
    const detail = Object.freeze({ info: { uuid: "1", name: "Test Wallet", icon: "", rdns: "example.test" }, provider });
    const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    window.addEventListener("eip6963:requestProvider", announce);
  }, account);
  await page.reload();
}

/** Sample notifications and balances. */
export const someNotifications = (address) => ({
  status: "success",
  notifications: [
    notification(1, "<script>alert(1)</script>", "0.01", false, address),
    notification(2, "grace.hopper", "0.0025", false, address),
    notification(3, "", "12.5", true, address, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"),
  ],
});

export const someBalances = (address) => ({
  address,
  chainId: 8453,
  onRamp: null,
  balances: [
    { symbol: "ETH", currency: "0x0000000000000000000000000000000000000000", amount: "41250000000000000", decimals: 18 },
    { symbol: "USDC", currency: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", amount: "128500000", decimals: 6 },
  ].map((balance) => ({ ...balance, depositUri: `ethereum:${address}@8453`, depositCode: "manage/icon.svg" })),
});

/** Statistics of a month in which something was collected on one of the oldest days and two days ago. */
export function someStats() {
  const today = Math.floor(Date.now() / 86_400_000) * 86_400;
  const counts = { created_count: 0, collector_count: 3, token_count: "5", eth_earned: "0.25", usdc_earned: "12.5", referred_count: 1, referral_count: 0, referral_eth: "0", referral_usdc: "0" };
  const days = [[28, 1], [2, 4]].map(([back, collected_count]) => ({ ...counts, day: today - back * 86_400, collected_count }));
  return { ...counts, since: today - 29 * 86_400, collected_count: 5, days };
}

function notification(number, username, amount, viewed, artist, currency = "0x0000000000000000000000000000000000000000") {
  const time = `2026-11-${20 - number}T09:30:00+00:00`;
  const collection = { address: `0x${"ab".repeat(20)}`, chain_id: 8453, creator: artist };
  return {
    id: `00000000-0000-4000-8000-00000000000${number}`,
    viewed,
    created_at: time,
    artist: { address: artist, username: "", bio: "", instagram_username: "", twitter_username: "", telegram_username: "" },
    payment: {
      id: `10000000-0000-4000-8000-00000000000${number}`,
      amount,
      currency,
      transaction_hash: `0x${"cd".repeat(32)}`,
      transferred_at: time,
      buyer: { address: `0x${String(number).repeat(40)}`, username },
      moment: { id: crypto.randomUUID(), token_id: String(number), uri: "ipfs://x", collection, fee_recipients: [] },
    },
  };
}
