// The page's appearance in all of its states: no accessibility violation, no horizontal scrolling, no layout shift. Leaves
// screenshots in .local/pictures.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { answer, askForCode, gate, giveProof, giveWallet, launch, looks, looksRight, open, pictures, settled, show, signIn, someBalances, someNotifications, someStats, unusedEmail, wrongCode } from "./support.mjs";

/** An unlocked account that no other test connects. */
const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

let browser;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
});
after(() => browser?.close());

for (const { colorScheme, width } of looks) {
  test(`${colorScheme} at ${width} pixels`, () => walk({ colorScheme, viewport: { width, height: width < 500 ? 740 : 1000 } }));
}

async function walk(options) {
  const page = await open(browser, { ...options, reducedMotion: "reduce" });
  const look = async (state) => {
    await page.evaluate(() => document.fonts.ready);
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.screenshot({ path: `${pictures}/${state}-${options.viewport.width}-${options.colorScheme}.png`, fullPage: !state.startsWith("dialog") });
    await looksRight(page, state);
  };
  await giveWallet(page, WALLET);
  const { held, release } = gate();
  const parts = (url) => /\/api\/(smartwallet|timeline|notifications|artists\/(api-keys|activity|payout-addresses|0x\w+))$/.test(url.pathname);
  const shifts = await page.evaluateHandle(() => {
    let sum = 0;
    const add = (entries) => entries.forEach(({ value }) => (sum += value));
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
    return () => {
      add(observer.takeRecords());
      const before = sum;
      sum = 0;
      return before;
    };
  });
  // Since it was asked last. What an input moves takes as long as the machine is slow: only what moves without one counts.
  const shifted = () => shifts.evaluate((take) => take());
  await look("entry");
  assert.ok((await shifted()) < 0.1, "the page jumped as it came");
  const email = unusedEmail();
  const code = await askForCode(page, email);
  await look("code");
  await page.getByLabel("The code we sent").fill(wrongCode(code));
  await page.locator("#code-note .error").waitFor();
  await look("code-wrong");
  // Parts are loading until they are answered, and then empty.
  await page.route(parts, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByLabel("The code we sent").fill(code);
  await page.getByRole("heading", { name: "Your moments" }).waitFor();
  await look("loading");
  await shifted();
  release();
  await settled(page);
  await page.unrouteAll({ behavior: "wait" });
  await look("empty-moments");
  assert.ok((await shifted()) < 0.1, "the page jumped as its parts came");
  for (const tab of ["Publish", "Money", "Programs", "Account"]) {
    await show(page, tab);
    await look(`empty-${tab.toLowerCase()}`);
  }
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await answer(page, "smartwallet", someBalances("0x"));
  await answer(page, "stats", someStats());
  await answer(page, "notifications", someNotifications("0x"));
  const painter = await signIn(page);
  await show(page, "Account");
  await page.getByLabel("Username").fill("a b");
  await page.getByLabel("Bio").fill("Painter of small hours.\nPrints, loops and other moments since 2019.");
  await page.getByLabel("Links").fill("nowhere");
  await page.getByRole("button", { name: "Save profile" }).click();
  await page.locator("#username-note .error").waitFor();
  await page.locator("#links-note .error").waitFor();
  await page.getByRole("button", { name: "Connect Test Wallet" }).click();
  await giveProof(page, painter);
  await page.getByText("Your own", { exact: true }).waitFor();
  await look("account");
  await page.getByLabel("Username").fill(`ada.${crypto.randomUUID().slice(0, 6)}`);
  await page.getByLabel("Links").fill("https://example.com/ada");
  await page.getByRole("button", { name: "Save profile" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("button", { name: `Disconnect ${WALLET}` }).click();
  await page.getByRole("button", { name: "Disconnect", exact: true }).click();
  await page.locator("#wallet-list li").nth(1).waitFor({ state: "detached" });
  await show(page, "Money");
  await page.getByLabel("Another address").fill("0x");
  await page.getByRole("button", { name: "Add address" }).click();
  await page.locator("#payout-address-note .error").waitFor();
  await page.getByText("Add money").click();
  await page.getByLabel("Another address").fill(`0x${"a".repeat(40)}`);
  await page.getByRole("button", { name: "Add address" }).click();
  await page.locator("#payout-list li").waitFor();
  await look("money");
  await show(page, "Publish");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.locator("#file-note .error").waitFor();
  await look("publish");
  await page.getByRole("radio", { name: "Text" }).check();
  await look("text");
  await page.getByLabel("Picture or video").check();
  const file = (name) => ({ name, mimeType: "image/png", buffer: Buffer.from(name) });
  await page.getByLabel("File", { exact: true }).setInputFiles([file("fog_at_four.png"), file("High-water.png"), file("low.png")]);
  await page.getByLabel("Name of High-water.png").waitFor();
  await look("several");
  await show(page, "Programs");
  await page.getByLabel("Name of a new key").fill("My site");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.locator("#key-list li").waitFor();
  await look("programs");
  await page.getByRole("button", { name: "I have saved it" }).click();
  await page.getByRole("button", { name: "Revoke My site" }).click();
  await look("dialog");
  await page.keyboard.press("Escape");
  for (const path of ["smartwallet", "notifications", "artists/api-keys"]) await answer(page, path, { status: "error", message: "Something went wrong on our side" }, 500);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.locator("#name-note .error").waitFor();
  await look("failed");
  await show(page, "Money");
  await page.getByRole("button", { name: "Mark all as viewed" }).click();
  await page.locator("#notification-problem", { hasText: "went wrong" }).waitFor();
  await show(page, "Programs");
  await answer(page, "artists/api-keys", { status: "error", message: "The token is not valid or has expired" }, 401);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Your session has ended.").waitFor();
  await look("ended");
  await answer(page, "artists/api-keys", { status: "error", message: "Something went wrong on our side" }, 500);
  await page.route("**/api/artists/0x*", (route) => route.abort());
  await signIn(page);
  assert.equal(await page.locator("#name-note .error").count(), 0, "left from the session before");
  await show(page, "Money");
  assert.equal(await page.getByRole("button", { name: "Mark all as viewed" }).isVisible(), false, "left from the session before");
  await show(page, "Account");
  await page.locator("#profile[data-state=failed]").waitFor();
  await look("broken");
  await page.context().close();
}
