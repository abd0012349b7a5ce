// The page at /manage in a browser: signing in with the mailed code, profile, keys, wallets and notifications, errors, and
// signing out.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { send } from "./publisher.mjs";
import { address, answer, askForCode, askNode, codeFor, codesFor, elsewhere, found, gate, giveProof, giveWallet, isIn, launch, looksRight, newestLink, open, setNumber, settled, show, signIn, someBalances, someNotifications, someStats, stack, unusedEmail, wrongCode } from "./support.mjs";

/** An unlocked account that no other test sends from or connects. */
const WALLET = "0xa0ee7a142d267c1f36714e4a8f75612f20a79720";
const MARKUP = `<script>document.title = "taken"</script><img src=x onerror="document.title = 'taken'">`;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const button = (page, name) => page.getByRole("button", { name, exact: true });
const has = (page, text) => page.getByText(text).first().waitFor();
/** Stops the page's time, a minute from now. */
const stopClock = (page) => page.clock.pauseAt(Date.now() + 60_000);
const api = (path, options = {}) => fetch(`${stack.api}/${path}`, { ...options, headers: { "content-type": "application/json", ...options.headers } });

test("key is created, used and revoked, and signing out clears the page", async () => {
  const page = await open(browser, { hasClock: true });
  const email = await signIn(page);
  const account = await page.locator("#self-address").textContent();
  assert.match(account, /^0x[0-9a-f]{40}$/);
  await has(page, "Nothing yet. Publish your first moment.");
  await show(page, "Money");
  await has(page, "No payments yet.");
  await show(page, "Programs");
  await has(page, "You have no keys yet.");

  await page.getByLabel("Name of a new key").fill(MARKUP);
  await button(page, "Create key").click();
  const field = page.locator("#new-key-value");
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  const key = await field.inputValue();
  assert.match(key, /^moments_[0-9A-Za-z]{38}$/);
  // It says so for two seconds. What is loading would give up.
  await settled(page);
  await stopClock(page);
  await button(page, "Copy").click();
  await button(page, "Copied").waitFor();
  await page.clock.resume();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key);
  await button(page, "I have saved it").click();
  assert.equal(await field.inputValue(), "");
  await has(page, MARKUP);

  const collection = { name: "Made with a key of the page", uri: "ipfs://x" };
  const made = await send(null, "POST", "collections", collection, { "x-api-key": key });
  assert.match(made.contractAddress, /^0x[0-9a-f]{40}$/);

  await button(page, `Revoke ${MARKUP}`).click();
  await button(page, "Keep it").click();
  assert.equal(await page.locator("#key-list li").count(), 1, "a key was revoked without confirmation");
  await button(page, `Revoke ${MARKUP}`).click();
  await button(page, "Revoke").click();
  await has(page, "You have no keys yet.");
  assert.equal((await api("collections", { method: "POST", headers: { "x-api-key": key }, body: JSON.stringify(collection) })).status, 401);

  const token = page.requests.map((request) => request.headers().authorization).find(Boolean).slice("Bearer ".length);
  await button(page, "Sign out").click();
  await button(page, "Send me a code").waitFor();
  const kept = await page.evaluate(() => ({
    page: document.documentElement.outerHTML + [...document.querySelectorAll("input, textarea")].map((input) => input.value),
    stores: localStorage.length + sessionStorage.length,
    cookie: document.cookie,
  }));
  for (const secret of [token, key, email, account]) assert.ok(!kept.page.includes(secret), `${secret} stayed on the page`);
  assert.equal(kept.stores, 0);
  assert.match(kept.cookie, /^moments_device=[0-9a-f]{64}$/, "only the device is remembered");
  assert.notEqual(await page.title(), "taken");
  assert.deepEqual(page.consoleErrors, []);
  await page.context().close();
});

test("profile is stored as typed, and errors are shown at their fields", async () => {
  const page = await open(browser);
  await signIn(page);
  await show(page, "Account");
  const name = `ada-${crypto.randomUUID().slice(0, 8)}`;
  await page.getByLabel("Username").fill("<script>");
  await page.getByLabel("Twitter").fill("@ada");
  const below = await button(page, "Save profile").boundingBox();
  await button(page, "Save profile").click();
  await has(page, "Must be 3 to 32 letters");
  await has(page, "without an \"@\"");
  assert.equal(await page.getByLabel("Username").getAttribute("aria-invalid"), "true");
  assert.equal(await page.evaluate(() => document.activeElement.id), "username");
  assert.deepEqual((await button(page, "Save profile").boundingBox()).x, below.x);

  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Twitter").fill("ada");
  await page.getByLabel("Bio").fill(MARKUP);
  await button(page, "Save profile").click();
  await has(page, "Saved.");
  await page.getByRole("heading", { name }).waitFor();
  const account = await page.locator("#self-address").textContent();
  const shown = await (await api(`artists/${account}`)).json();
  assert.deepEqual([shown.username, shown.bio, shown.twitter_username], [name, MARKUP, "ada"]);
  await button(page, "Save profile").click();
  await has(page, "Nothing to save.");

  await page.getByLabel("Links").fill("https://example.com/ada\n\n https://example.org/");
  await button(page, "Save profile").click();
  await has(page, "Saved.");
  await page.getByLabel("Picture", { exact: true }).setInputFiles(fileURLToPath(new URL("../../local/demo/works/ada-marin.png", import.meta.url)));
  await page.waitForFunction(() => document.getElementById("avatar").naturalWidth > 0);
  const faced = await (await api(`artists/${account}`, { cache: "no-store" })).json();
  assert.deepEqual(faced.links, ["https://example.com/ada", "https://example.org/"]);
  assert.match(faced.avatar.uri, /^ipfs:\/\/baf/);
  await button(page, "Remove the picture").click();
  await page.locator("#avatar").waitFor({ state: "hidden" });

  const other = await open(browser);
  await signIn(other);
  await show(other, "Account");
  await other.getByLabel("Username").fill(name.toUpperCase());
  await button(other, "Save profile").click();
  await has(other, "or one that looks like it, is taken");
  assert.equal(await page.getByLabel("Bio").inputValue(), MARKUP);
  assert.notEqual(await page.title(), "taken");
  await page.context().close();
  await other.context().close();
});

test("wrong, void and expired codes show an error, and a code is read from pasted text", async () => {
  const page = await open(browser, { hasClock: true });
  await stopClock(page);
  const email = unusedEmail();
  const code = await askForCode(page, email);
  const field = page.getByLabel("The code we sent");
  const button_ = button(page, "Sign in");
  const before_ = await button_.boundingBox();
  await field.fill("12");
  await button_.click();
  await has(page, "Must be 6 digits.");
  for (let tries = 1; tries <= 5; tries++) {
    const answered = page.waitForResponse((response) => response.url().endsWith("/oauth/login"));
    await field.fill(wrongCode(code));
    assert.equal((await answered).status(), 401);
    await has(page, "The code is wrong or no longer valid");
  }
  assert.deepEqual(await button_.boundingBox(), before_, "an error moved the page");
  const sixth = page.waitForResponse((response) => response.url().endsWith("/oauth/login"));
  await field.fill(code);
  assert.equal((await sixth).status(), 401, "a sixth try was let through");

  // Another code can be requested after the timer.
  const resend = page.locator("#resend");
  assert.match(await resend.textContent(), /in \d+ s$/);
  await resend.click({ force: true });
  assert.equal((await codesFor(email)).length, 1, "a code was sent before the timer ended");
  await button(page, "Use another address").click();
  await button(page, "Send me a code").click();
  await field.waitFor();
  await page.clock.fastForward(31_000);
  const { held, release } = gate();
  await page.route("**/oauth/code", async (route) => {
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  await button(page, "Send another code").click();
  await codeFor(email, 2);
  const codes = await codesFor(email);
  assert.equal(codes.length, 3);

  const fingerprint = createHash("sha256").update(email).digest("hex");
  const asked = page.requests.findLast((request) => request.url().endsWith("/oauth/code")).postDataJSON();
  const nonce = createHash("sha256").update(asked.nonce).digest("hex");
  await setNumber("SecretTable", `CODE#${fingerprint}`, `NONCE#${nonce}`, "expires_at", 1);
  const late = page.waitForResponse((response) => response.url().endsWith("/oauth/login"));
  await field.fill(codes[2]);
  assert.equal((await late).status(), 401, "an expired code was let through");
  await has(page, "The code is wrong or no longer valid");
  // The answer to the request for another code may come only now.
  release();
  await found(async () => {
    await page.clock.fastForward(100);
    return (await page.locator("#announcer").textContent()).startsWith("Another code is on its way.");
  }, "the answer");
  await has(page, "The code is wrong or no longer valid");
  await page.unroute("**/oauth/code");

  // The limit of three codes in ten minutes is shown.
  await button(page, "Use another address").click();
  await button(page, "Send me a code").click();
  await has(page, "Mails were sent to this address: open the link in the newest one");

  const fresh = await open(browser);
  const next = await askForCode(fresh, unusedEmail());
  await fresh.evaluate((text) => navigator.clipboard.writeText(text), `Your code is ${next}. It is good for 10 minutes.`);
  await fresh.getByLabel("The code we sent").focus();
  await fresh.keyboard.press("Control+V");
  await isIn(fresh);
  await page.context().close();
  await fresh.context().close();
});

test("page that was dropped while the mail was read goes on waiting for the code", async () => {
  const page = await open(browser);
  const email = unusedEmail();
  const code = await askForCode(page, email);
  await page.reload();
  await has(page, email);
  await page.getByLabel("The code we sent").fill(code);
  await isIn(page);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0, "something is kept after the sign-in");
  await page.context().close();
});

test("link in the mail signs in on another device, once, and makes the device known", async () => {
  const asking = await open(browser);
  const email = unusedEmail();
  await askForCode(asking, email);
  const link = await newestLink(email);
  assert.ok(link.startsWith(`${address}#link=`), link);
  const page = await open(browser);
  await page.goto(link);
  await button(page, "Sign in").waitFor();
  assert.equal(await page.evaluate(() => location.href), address, "the address bar keeps the link");
  assert.ok(!page.requests.some((request) => request.url().endsWith("/oauth/link")), "the link was used without a press");
  await button(page, "Sign in").click();
  await isIn(page);
  await has(page, email);
  const cookie = (await page.context().cookies(address)).find(({ name }) => name !== "moments-session");
  assert.deepEqual([cookie.name, cookie.path, cookie.sameSite, cookie.secure], ["moments_device", "/api/manage", "Strict", true]);
  const sent = (await page.context().cookies(`${stack.api}/timeline`)).map(({ name }) => name);
  assert.deepEqual(sent, ["moments-session"], "the API gets the device's cookie");

  // The device is listed, sent with the next code, and forgotten.
  await button(page, "Sign out", { exact: true }).click();
  const next = await askForCode(page, email);
  const asked = page.requests.findLast((request) => request.url().endsWith("/oauth/code")).postDataJSON();
  assert.equal(asked.deviceToken, cookie.value);
  await page.getByLabel("The code we sent").fill(next);
  await isIn(page);
  await show(page, "Account");
  await button(page, "Forget").click();
  await button(page, "Forget").waitFor({ state: "detached" });

  await asking.goto(link);
  await asking.locator("#link-form").getByRole("button", { name: "Sign in" }).click();
  await has(asking, "The link was used or is no longer valid");
  await page.context().close();
  await asking.context().close();
});

test("browser wallet is connected by signature and disconnected", async () => {
  const page = await open(browser);
  await giveWallet(page, WALLET);
  const email = await signIn(page);
  await show(page, "Account");
  await page.evaluate(() => (window.testWallet.declines = true));
  await button(page, "Connect Test Wallet").click();
  await has(page, "You declined in your wallet.");
  await page.evaluate(() => (window.testWallet.declines = false));
  await button(page, "Connect Test Wallet").click();
  await giveProof(page, email);
  await page.getByText("Your own", { exact: true }).waitFor();
  const account = await page.locator("#self-address").textContent();
  assert.equal((await (await api(`artists/${WALLET}`)).json()).address, account);

  await button(page, "Sign out").click();
  await button(page, "Sign in with Test Wallet").click();
  await isIn(page);
  assert.equal(await page.locator("#self-address").textContent(), account, "the connected wallet signs its artist in");

  const other = await open(browser);
  await giveWallet(other, WALLET);
  const stranger = await signIn(other);
  await show(other, "Account");
  await button(other, "Connect Test Wallet").click();
  await giveProof(other, stranger);
  await has(other, "The wallet is another artist's");

  await button(page, `Disconnect ${WALLET}`).click();
  await button(page, "Disconnect").click();
  await page.locator("#wallet-list li").nth(1).waitFor({ state: "detached" });
  assert.equal((await api(`artists/${WALLET}`, { cache: "no-store" })).status, 404);
  await page.context().close();
  await other.context().close();
});

test("notifications and balances are shown, and notifications are marked as viewed singly or all at once", async () => {
  const page = await open(browser);
  const marks = [];
  let viewed = new Set();
  await answer(page, "smartwallet", someBalances("0x"));
  await page.route("**/api/notifications**", (route) => {
    const { notifications } = someNotifications("0x");
    if (route.request().method() === "PUT") {
      const body = route.request().postDataJSON();
      marks.push(body);
      viewed = new Set(body.ids ?? notifications.map(({ id }) => id));
      return route.fulfill({ json: { status: "success", updated: viewed.size } });
    }
    return route.fulfill({ json: { status: "success", notifications: notifications.map((one) => ({ ...one, viewed: one.viewed || viewed.has(one.id) })) } });
  });
  await page.route((url) => url.pathname === "/api/moment", (route) => {
    const token = new URL(route.request().url()).searchParams.get("tokenId");
    route.fulfill(token === "3" ? { status: 503, json: {} } : { json: { token_id: token, metadata: { name: `<i>Fog</i> ${token}`, content: { mime: "", uri: "" }, previews: [{ url: "manage/icon.svg", width: 320, height: 320 }] } } });
  });
  await signIn(page);
  await show(page, "Money");
  await has(page, "0.04125");
  await has(page, "128.5");
  await has(page, "<script>alert(1)</script> paid 0.01 ETH for <i>Fog</i> 1");
  await has(page, "grace.hopper paid 0.0025 ETH for <i>Fog</i> 2");
  assert.equal(await page.locator("#notification-list img:visible").count(), 2, "pictures of two, and of none that isn't known");
  assert.equal(await page.locator("#notification-list a").first().getAttribute("href"), `#moments/8453/0x${"ab".repeat(20)}/1`);
  await has(page, "0x3333…3333 paid 12.5 USDC");
  assert.equal(await page.locator("#notification-list li:not([data-viewed])").count(), 2);
  await button(page, "Mark viewed").first().click();
  await page.waitForFunction(() => document.querySelectorAll("#notification-list li:not([data-viewed])").length === 1);
  await button(page, "Mark all as viewed").click();
  await button(page, "Mark all as viewed").waitFor({ state: "hidden" });
  assert.deepEqual(marks, [{ ids: ["00000000-0000-4000-8000-000000000001"] }, {}]);
  assert.deepEqual(page.consoleErrors.filter((error) => !error.includes("503")), []);
  await page.context().close();
});

test("money is added from anywhere, and its arrival is seen", async () => {
  const page = await open(browser);
  await signIn(page);
  const account = await page.locator("#self-address").textContent();
  await show(page, "Money");
  await has(page, "Nothing was collected yet.");
  await page.getByText("Add money").click();
  const code = page.getByAltText("QR code to send ETH");
  await page.waitForFunction((image) => image.naturalWidth > 0, await code.elementHandle());
  assert.equal(await code.locator("..").getAttribute("href"), `ethereum:${account}@8453`);
  await has(page, "Waiting for it");
  await looksRight(page, "adding money");
  await askNode("anvil_setBalance", [account, "0x6f05b59d3b20000"]);
  await has(page, "0.5 ETH arrived.");
  await page.locator("#balance-list").getByText("0.5", { exact: true }).waitFor();
  assert.deepEqual(page.consoleErrors, []);
  await page.context().close();
});

test("a chart shows each of the last 30 days", async () => {
  const page = await open(browser);
  await answer(page, "stats", someStats());
  await signIn(page);
  await show(page, "Money");
  const chart = page.getByRole("img", { name: /^5 collected in 30 days, most on .*: 4$/ });
  await chart.waitFor();
  assert.deepEqual([await chart.locator("rect").count(), await chart.locator(".bar-of-day").count()], [30, 2]);
  await page.locator("#stats-list").getByText("0.25 ETH and 12.5 USDC").waitFor();
  await looksRight(page, "the chart");
  await page.context().close();
});

test("being offline, service failures and ended sessions are shown, and failed parts can be retried", async () => {
  const page = await open(browser);
  await page.context().setOffline(true);
  await page.getByLabel("E-mail address").fill("nobody");
  await button(page, "Send me a code").click();
  await has(page, "You are offline");
  await page.context().setOffline(false);
  await button(page, "Send me a code").click();
  await has(page, "Must be an e-mail address");

  const failing = ["artists/api-keys", "smartwallet", "notifications"];
  const failure = { status: "error", message: "Something went wrong on our side" };
  for (const path of failing) await answer(page, path, failure, 500);
  await page.route("**/api/artists/0x*", (route) => route.fulfill({ status: 503, body: "<html>busy</html>", contentType: "text/html" }));
  await signIn(page);
  const tabs = { Account: ["profile", "wallets"], Money: ["balances", "notifications"], Programs: ["keys"] };
  for (const [tab, parts] of Object.entries(tabs)) {
    await show(page, tab);
    for (const part of parts) assert.equal(await page.locator(`#${part}`).getAttribute("data-state"), "failed", part);
    const words = tab === "Account" ? "The service failed" : "Something went wrong on our side";
    await page.locator(`#tab-${tab.toLowerCase()}`).getByText(`${words}: try again in a moment.`).first().waitFor();
  }
  await button(page, "Create key").click();
  await page.locator("#name-note .error").waitFor();

  await page.unrouteAll();
  await answer(page, "smartwallet", someBalances("0x"));
  await answer(page, "notifications", { status: "success", notifications: [] });
  for (const [tab, parts] of Object.entries(tabs)) {
    await show(page, tab);
    for (const part of parts.filter((name) => name !== "wallets")) await page.locator(`#${part} .again`).click();
    await settled(page);
  }
  await show(page, "Money");
  await has(page, "No payments yet.");
  await show(page, "Account");
  await has(page, "Kept by the service");
  await show(page, "Programs");
  assert.equal(await page.locator("#profile").getAttribute("data-state"), "ready");

  await answer(page, "artists/api-keys", { status: "error", message: "The token is not valid or has expired" }, 401);
  await button(page, "Create key").click();
  await has(page, "Your session has ended.");
  assert.equal(await page.locator("#account").isHidden(), true);
  await page.context().close();
});

test("the token's expiry signs out, and a page that was left or dropped goes on", async () => {
  const page = await open(browser, { hasClock: true });
  await signIn(page);
  await page.clock.fastForward("01:00:01");
  await has(page, "Your hour is over.");
  await page.context().close();

  const left = await open(browser);
  const email = await signIn(left);
  const account = await left.locator("#self-address").textContent();
  for (const again of [() => left.goto(`${stack.api}/manage/icon.svg`).then(() => left.goBack()), () => left.reload()]) {
    await again();
    await isIn(left);
    assert.equal(await left.locator("#self-address").textContent(), account);
    assert.equal(await left.locator("#self-email").textContent(), email);
  }
  const [cookie] = (await left.context().cookies()).filter(({ name }) => name === "moments-session");
  assert.deepEqual([cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.path], [true, true, "Strict", "/api"]);
  // It saves, too, and signing out ends it.
  await show(left, "Programs");
  await button(left, "Create key").click();
  await left.getByRole("heading", { name: "Your new key" }).waitFor();
  const ended = left.waitForResponse((response) => response.url().endsWith("/oauth/logout"));
  await button(left, "Sign out").click();
  await button(left, "Send me a code").waitFor();
  await ended;
  await left.reload();
  await button(left, "Send me a code").waitFor();
  assert.deepEqual((await left.context().cookies()).filter(({ name }) => name === "moments-session"), []);
  await left.context().close();
});

test("every action works by keyboard", async () => {
  const page = await open(browser);
  const email = unusedEmail();
  const until = async (name) => {
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(() => {
        const { labels, ariaLabel, textContent } = document.activeElement;
        return labels?.[0]?.textContent ?? ariaLabel ?? textContent;
      });
      if (focused.includes(name)) return;
    }
    assert.fail(`${name} can't be reached`);
  };
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until("E-mail address");
  await page.keyboard.type(email);
  await page.keyboard.press("Enter");
  await page.getByLabel("The code we sent").waitFor();
  await page.keyboard.type(await codeFor(email));
  await isIn(page);
  await until("Programs");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await settled(page);
  await until("Name of a new key");
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  await settled(page);
  await until("I have saved it");
  await page.keyboard.press("Enter");
  await until("Revoke By keyboard");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.locator("#key-list button[aria-busy=false]").waitFor();
  assert.equal(await page.locator("#key-list li").count(), 1, "Escape revoked a key");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await has(page, "You have no keys yet.");
  await page.context().close();
});

test("page is small, makes no cross-origin request and has a strict content security policy", async () => {
  const page = await open(browser);
  await signIn(page);
  const sizes = { document: 0, other: 0 };
  for (const request of page.requests.filter((request) => ["document", "stylesheet", "script"].includes(request.resourceType()))) {
    sizes[request.resourceType() === "document" ? "document" : "other"] += gzipSync(await (await request.response()).body()).length;
  }
  assert.ok(sizes.document <= 30_000 && sizes.other <= 25_000, JSON.stringify(sizes));
  for (const tab of ["Publish", "Money", "Programs", "Account"]) await show(page, tab);
  assert.deepEqual(elsewhere(page), []);

  const response = await fetch(address);
  const policy = response.headers.get("content-security-policy");
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) assert.ok(policy.includes(rule), rule);
  assert.ok(!/unsafe|\*|https?:/.test(policy.replaceAll(stack.aws, "").replaceAll(stack.files, "")), policy);
  assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
  const html = await response.text();
  assert.ok(!/<script(?![^>]* src=)|<style| style=| on[a-z]+=/.test(html), "the page has inline code that its policy forbids");
  const again = await fetch(address, { headers: { "if-none-match": response.headers.get("etag") } });
  assert.equal(again.status, 304);
  assert.equal((await fetch(`${address}/secrets.txt`)).status, 404);
  await page.context().close();
});
