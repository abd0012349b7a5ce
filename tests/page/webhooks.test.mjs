// Webhooks on the page: made, tested, looked at, replaced and deleted, with a receiver that is a real program.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { found, launch, open, settled, show, signIn } from "./support.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const button = (page, name) => page.getByRole("button", { name });

test("webhook is made, tested, and shown with its last deliveries until it is deleted", async () => {
  const arrived = [];
  const receiver = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { type, data } = JSON.parse(body);
    if (type === "webhook.challenge") return response.end(JSON.stringify(data));
    arrived.push(request.headers["webhook-signature"]);
    response.writeHead(204).end();
  });
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${receiver.address().port}/moments`;
  const page = await open(browser);
  await signIn(page);
  await show(page, "Programs");
  await page.getByText("You have no webhooks.").waitFor();
  await page.getByLabel("Where to").fill("http://example.com/");
  await button(page, "Add webhook").click();
  await page.locator("#webhook-url-note .error").waitFor();
  await page.getByLabel("Where to").fill(url);
  await page.getByLabel("What", { exact: true }).selectOption({ label: "Comments" });
  await button(page, "Add webhook").click();
  await page.getByRole("heading", { name: "The webhook’s secret" }).waitFor();
  const secret = await page.locator("#new-secret-value").inputValue();
  assert.match(secret, /^whsec_/);
  await page.locator("#new-secret-done").click();
  assert.equal(await page.locator("#new-secret-value").inputValue(), "");
  await found(async () => {
    await button(page, "Look again").click();
    await settled(page);
    return page.getByText("comment.created · on").count();
  }, "the receiver's answer to its challenge");

  await button(page, `Test ${url}`).click();
  await found(async () => {
    await button(page, "Look again").click();
    await settled(page);
    return page.getByText("webhook.test: delivered").count();
  }, "the delivery");
  await page.getByText(/webhook\.test: delivered · 204 after \d+ ms/).waitFor();
  assert.equal(arrived.length, 1);

  await button(page, `Replace secret ${url}`).click();
  await page.locator("#confirm-yes").click();
  await page.locator("#new-secret:not([hidden])").waitFor();
  assert.notEqual(await page.locator("#new-secret-value").inputValue(), secret);
  await settled(page);
  await button(page, `Switch off ${url}`).click();
  await page.getByText("comment.created · off").waitFor();
  await button(page, `Delete ${url}`).click();
  await page.locator("#confirm-yes").click();
  await page.getByText("You have no webhooks.").waitFor();
  assert.deepEqual(page.consoleErrors.filter((error) => !error.includes("400")), []);
  await page.context().close();
  receiver.close();
  receiver.closeAllConnections();
});
