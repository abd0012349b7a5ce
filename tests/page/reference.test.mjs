// The reference at /docs in a browser: it asks no other site, and an endpoint has its samples in four languages.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, open, pictures, stack } from "./support.mjs";

const url = `${stack.api}/moment/collect`.replaceAll(".", "\\.");

/** What each language's sample says; how its lines are broken depends on how long the URL is. */
const SAMPLES = {
  Requests: new RegExp(`requests\\.post\\(\\s*"${url}",`),
  Fetch: new RegExp(`fetch\\(\\s*'${url}',`),
  reqwest: new RegExp(`\\.post\\(\\s*"${url}"\\)`),
  Curl: new RegExp(`curl\\s+${url}\\s`),
};

let browser;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
});
after(() => browser?.close());

test("the reference asks no other site and has samples in Python, JavaScript, Rust and for curl", async () => {
  const page = await open(browser, { viewport: { width: 1440, height: 1000 }, reducedMotion: "reduce" });
  page.setDefaultTimeout(30_000);
  await page.goto(`${stack.api}/docs`);
  await page.getByRole("heading", { name: "Sign-in" }).first().waitFor();
  await page.screenshot({ path: `${pictures}/reference.png` });
  await page.goto("about:blank");
  await page.goto(`${stack.api}/docs#tag/moments/POST/moment/collect`);
  // The reference draws what is on the screen first: the operation's own section is looked into, wherever it stands.
  const operation = page.locator('[id$="tag/moments/POST/moment/collect"]');
  for (const [name, sample] of Object.entries(SAMPLES)) {
    await operation.getByRole("button", { name: "Change code sample language" }).click();
    await page.getByRole("option", { name, exact: true }).click();
    await operation.filter({ hasText: sample }).waitFor();
    await operation.evaluate((element) => element.scrollIntoView());
    await page.screenshot({ path: `${pictures}/reference-${name.toLowerCase()}.png` });
  }
  const others = page.requests.map((request) => request.url()).filter((url) => !url.startsWith(stack.api) && !/^(data|blob|about):/.test(url));
  assert.deepEqual(others, []);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});
