// A collector's payment as the creator sees it on the page, with real transactions and the real indexer.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { send } from "./publisher.mjs";
import { askNode, codeFor, found, launch, open, show, signIn, stack, unusedEmail } from "./support.mjs";

const ETHER = 10n ** 18n;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const post = (path, body, headers, method = "POST") => send(null, method, path, body, headers);

/** An artist with a key, signed in through the API. */
async function artist() {
  const email = unusedEmail();
  await post("oauth/code", { email });
  const { token, social_wallet: account } = await post("oauth/login", { email, code: await codeFor(email) });
  const { apiKey } = await post("artists/api-keys", {}, { authorization: `Bearer ${token}` });
  return { email, account, token: { authorization: `Bearer ${token}` }, headers: { "x-api-key": apiKey } };
}

test("creator sees who paid for a moment and the new balance", async () => {
  const [creator, collector] = [await artist(), await artist()];
  const sale = { type: "fixedPrice", pricePerToken: String(ETHER / 1000n), saleStart: 0, saleEnd: "18446744073709551615" };
  const body = { contract: { name: "Small hours", uri: "ipfs://collection" }, token: { tokenMetadataURI: "ipfs://moment", salesConfig: sale } };
  const { contractAddress, tokenId } = await post("moment/create", body, creator.headers);
  const username = `mary-${crypto.randomUUID().slice(0, 8)}`;
  await post("artists/me", { username }, collector.token, "PATCH");
  await askNode("anvil_setBalance", [collector.account, `0x${ETHER.toString(16)}`]);
  await post("moment/collect", { moment: { collectionAddress: contractAddress, tokenId }, amount: 2, comment: "Lovely" }, { ...collector.headers, "idempotency-key": crypto.randomUUID() });
  await found(async () => {
    const answer = await fetch(`${stack.api}/notifications?artist=${creator.account}&n=${crypto.randomUUID()}`);
    return answer.ok && (await answer.json()).notifications.length;
  }, "the notification");

  const page = await open(browser);
  await signIn(page, creator.email);
  await show(page, "Money");
  await page.getByText(`${username} paid 0.002 ETH for token ${tokenId}`).waitFor();
  await page.locator("#balance-list").getByText("0.002", { exact: true }).waitFor();
  await page.locator("#balance-list").getByText("USDC").waitFor();
  assert.equal(await page.locator("#notification-list li:not([data-viewed])").count(), 1);
  await page.getByRole("button", { name: "Mark all as viewed" }).click();
  await page.locator("#notification-list li[data-viewed]").waitFor();
  await page.getByRole("button", { name: "Mark all as viewed" }).waitFor({ state: "hidden" });
  assert.deepEqual(page.consoleErrors, []);
  await page.context().close();
});
