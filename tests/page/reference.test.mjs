// The API reference at /docs in a browser.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { until } from "./patience.mjs";
import { codeFor, elsewhere, launch, looks, looksRight, open, pictures, stack, unusedEmail } from "./support.mjs";

const url = `${stack.api}/moment/collect`.replaceAll(".", "\\.");

/** Each language's sample; its line breaks depend on the length of the URL. */
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

/** After this the choice is made again. */
const SOON = { timeout: 5_000 };

/** Chooses a language's sample. Sections that are rendered later replace the list, and with it a choice that was just made. */
async function choose(page, operation, name, sample) {
  await until(async () => {
    await operation.getByRole("button", { name: "Change code sample language" }).click();
    await page.getByRole("option", { name, exact: true }).click(SOON);
    await operation.filter({ hasText: sample }).waitFor(SOON);
  });
}

test("reference makes no cross-origin request and has samples in Python, JavaScript, Rust and curl", async () => {
  const page = await open(browser, { viewport: { width: 1440, height: 1000 }, reducedMotion: "reduce" });
  await page.goto(`${stack.api}/docs`);
  await page.getByRole("heading", { name: "Sign-in" }).first().waitFor();
  await page.screenshot({ path: `${pictures}/reference.png` });
  await page.goto("about:blank");
  await page.goto(`${stack.api}/docs#tag/moments/POST/moment/collect`);
  // The reference renders the visible part first, so the operation's section is located by id.
  const operation = page.locator('[id$="tag/moments/POST/moment/collect"]');
  for (const [name, sample] of Object.entries(SAMPLES)) {
    await choose(page, operation, name, sample);
    await operation.evaluate((element) => element.scrollIntoView());
    await page.screenshot({ path: `${pictures}/reference-${name.toLowerCase()}.png` });
  }
  assert.deepEqual(elsewhere(page), []);
  assert.deepEqual(page.consoleErrors, []);
  await page.context().close();
});

test("test request works at once with the key in the address, as `make run` prints it", async () => {
  const post = async (path, body, headers = {}) => {
    const answer = await fetch(`${stack.api}/${path}`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
    return answer.json();
  };
  const email = unusedEmail();
  await post("oauth/code", { email });
  const { token } = await post("oauth/login", { email, code: await codeFor(email) });
  const { apiKey } = await post("artists/api-keys", {}, { authorization: `Bearer ${token}` });
  const page = await open(browser, { viewport: { width: 1440, height: 1000 }, reducedMotion: "reduce" });
  await page.goto("about:blank");
  await page.goto(`${stack.api}/docs?key=${apiKey}#tag/collections/POST/collections`);
  const operation = page.locator('[id$="tag/collections/POST/collections"]');
  await operation.getByRole("button", { name: /Test Request/ }).click();
  const answered = page.waitForResponse((response) => response.url() === `${stack.api}/collections` && response.request().method() === "POST");
  await page.getByRole("button", { name: /^Send/ }).first().click();
  const answer = await answered;
  // On its way, if the chain is slow.
  assert.ok([200, 202].includes(answer.status()), await answer.text());
  assert.equal(answer.request().headers()["x-api-key"], apiKey);
  await page.screenshot({ path: `${pictures}/reference-test-request.png` });
  await page.context().close();
});

/** Parts of the page with each kind of section; the reference renders what is visible first. */
const PLACES = { "docs": "Sign-in", "docs#tag/moments/POST/moment/collect": "Collect a moment", "docs#models": "Models" };

for (const { colorScheme, width } of looks) {
  test(`reference and guides are accessible: ${colorScheme} at ${width} pixels`, async () => {
    const page = await open(browser, { colorScheme, viewport: { width, height: 900 }, reducedMotion: "reduce" });
    for (const guide of ["quickstart", "errors"]) {
      await page.goto(`${stack.api}/docs/${guide}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.screenshot({ path: `${pictures}/guide-${guide}-${width}-${colorScheme}.png` });
      await looksRight(page, guide);
    }
    for (const [path, heading] of Object.entries(PLACES)) {
      await page.goto("about:blank");
      await page.goto(`${stack.api}/${path}`);
      await page.getByRole("heading", { name: heading }).first().waitFor();
      await page.screenshot({ path: `${pictures}/reference-${heading.toLowerCase().replaceAll(" ", "-")}-${width}-${colorScheme}.png` });
      await looksRight(page, path);
    }
    assert.deepEqual(elsewhere(page), []);
    assert.deepEqual(page.consoleErrors, []);
    await page.context().close();
  });
}
