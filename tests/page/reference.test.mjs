// The reference at /docs in a browser: nothing is asked of any other site, and an endpoint has its samples in four languages.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, open, pictures, stack } from "./support.mjs";

/** What is telling of a sample in each language. */
const SAMPLES = { Curl: /^curl /, Fetch: /fetch\(/, Requests: /requests\.post\(/, reqwest: /reqwest/ };

let browser;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
});
after(() => browser?.close());

test("the reference asks nobody else and shows samples in curl, Python, JavaScript and Rust", async () => {
  const page = await open(browser, { viewport: { width: 1440, height: 900 } });
  await page.goto(`${stack.api}/docs#tag/moments/POST/moment/collect`);
  await page.waitForTimeout(15000);
  await page.screenshot({ path: `${pictures}/reference-1440.png` });
  console.log(await page.evaluate(() => document.body.innerText.slice(0, 3000)));
  console.log(page.complaints);
  const others = page.requests.map((request) => new URL(request.url())).filter(({ origin, protocol }) => origin !== new URL(stack.api).origin && !["data:", "blob:"].includes(protocol));
  assert.deepEqual(others.map(String), []);
  await page.context().close();
});
