// The reference at /docs in a browser: it asks no other site, and an endpoint has its samples in four languages.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, open, pictures, stack } from "./support.mjs";

/** What each language's sample begins with. */
const SAMPLES = {
  Requests: `requests.post("${stack.api}/moment/collect",`,
  Fetch: `fetch('${stack.api}/moment/collect', {`,
  reqwest: `.post("${stack.api}/moment/collect")`,
  Curl: `curl ${stack.api}/moment/collect \\`,
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
  const heading = page.getByRole("heading", { name: "Collect a moment" }).first();
  await heading.waitFor();
  for (const [name, sample] of Object.entries(SAMPLES)) {
    await page.getByRole("button", { name: "Change code sample language" }).first().click();
    await page.getByRole("option", { name, exact: true }).click();
    await page.waitForFunction((sample) => document.body.textContent.includes(sample), sample);
    await heading.evaluate((element) => element.scrollIntoView());
    await page.screenshot({ path: `${pictures}/reference-${name.toLowerCase()}.png` });
  }
  const others = page.requests.map((request) => request.url()).filter((url) => !url.startsWith(stack.api) && !/^(data|blob|about):/.test(url));
  assert.deepEqual(others, []);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});
