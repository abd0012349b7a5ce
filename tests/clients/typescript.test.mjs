// The TypeScript client against the running service: reads, pages, writes, uploads, errors, retries and webhooks, and its
// package.

import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { Webhook } from "standardwebhooks";
import * as client from "../../clients/typescript/dist/index.js";
import { until } from "../page/patience.mjs";
import { askNode, codeFor, root, run, stack, unusedEmail } from "./support.mjs";

const { Moments, NO_END, formatAmount, parseAmount, saleEnd, verifyWebhook } = client;
const folder = join(root, "clients/typescript");

async function newArtist(options = {}) {
  const moments = new Moments({ baseUrl: stack.api, ...options });
  const email = unusedEmail();
  await moments.sendCode(email);
  const { social_wallet: account } = await moments.logIn(email, await codeFor(email));
  await moments.createApiKey("test");
  return { moments, account };
}

/** Publishes a free moment and waits until it can be read. */
async function publish(moments) {
  const { contractAddress, tokenId } = await moments.write("/moment/create", {
    body: {
      contract: { name: "Tides", uri: "ipfs://bafybeidemotidetables/collection" },
      token: {
        tokenMetadataURI: "ipfs://bafybeidemotidetables/1",
        salesConfig: { type: "fixedPrice", pricePerToken: "0", saleStart: 0, saleEnd: NO_END },
      },
    },
  });
  const query = { collectionAddress: contractAddress, tokenId };
  return { query, moment: await until(() => moments.get("/moment", { params: { query } })) };
}

const picture = readFileSync(join(root, "docs/manage.png"));

const bytesAt = async (url) => Buffer.from(await (await fetch(url)).arrayBuffer());

test("a sale is read, edited and sent back", async () => {
  const { moments } = await newArtist();
  const { query, moment } = await publish(moments);
  assert.equal(moment.sale.saleEnd, NO_END);
  assert.equal(saleEnd(moment.sale), undefined);
  const { saleStart, saleEnd: end, maxTokensPerAddress, fundsRecipient } = moment.sale;
  const pricePerToken = String(parseAmount("0.002", 18));
  const body = { moment: query, saleStart, saleEnd: end, maxTokensPerAddress, fundsRecipient, pricePerToken };
  assert.match((await moments.write("/sale", { body })).hash, /^0x[0-9a-f]{64}$/);
  // As a program that made numbers of them would send it.
  await moments.write("/sale", { body: { moment: query, saleEnd: Number(end), maxTokensPerAddress: 3 } });
  const changed = await until(async () => {
    const { sale } = await moments.get("/moment", { params: { query } });
    assert.equal(sale.maxTokensPerAddress, "3");
    return sale;
  });
  assert.deepEqual({ ...changed, maxTokensPerAddress }, { ...moment.sale, pricePerToken });
  assert.equal(formatAmount(changed.pricePerToken, 18), "0.002");
});

test("a list is read page after page", async () => {
  const { moments } = await newArtist();
  const salesConfig = { type: "timed", pricePerToken: "0", saleStart: 0, saleEnd: 0 };
  const tokens = [1, 2, 3, 4, 5].map((number) => ({ tokenMetadataURI: `ar://tides-${number}`, salesConfig }));
  const contract = { name: "Tides", uri: "ar://tides" };
  const { contractAddress, tokenIds } = await moments.write("/moment/create-batch", { body: { contract, tokens } });
  const query = { limit: 2, collection: contractAddress };
  await until(async () => {
    const ids = [];
    for await (const moment of moments.each("/timeline", { params: { query } })) ids.push(moment.token_id);
    assert.deepEqual(ids.sort(), tokenIds.sort());
  });
  const sizes = [];
  for await (const page of moments.pages("/timeline", { params: { query: { ...query, page: 2 } } })) sizes.push(page.moments.length);
  assert.deepEqual(sizes, [2, 1]);
});

test("a lost answer is asked for again, and the write isn't repeated", async () => {
  const keys = [];
  const losing = async (request) => {
    const key = request.headers.get("idempotency-key");
    if (key) keys.push(key);
    const answer = await fetch(request);
    if (keys.length === 1) throw new TypeError("connection lost");
    return answer;
  };
  const { moments, account } = await newArtist({ fetch: losing });
  await moments.write("/collections", { body: { name: "Tides", uri: "ar://tides" } });
  assert.equal(new Set(keys).size, 1);
  assert.ok(keys.length >= 2);
  const { transactions } = await moments.get("/transactions");
  assert.equal(transactions.length, 1);
  const transaction = await moments.waitForTransaction(transactions[0].id);
  assert.equal(transaction.status, "mined");
  const collections = await until(async () => {
    const found = await moments.get("/collections", { params: { query: { artist: account } } });
    assert.equal(found.collections.length, 1);
    return found;
  });
  assert.equal(collections.pagination.total_pages, 1);
});

test("errors say which fields are wrong, and what can't be done", async () => {
  const { moments } = await newArtist();
  const wrong = await moments.post("/sale", { body: { moment: { collectionAddress: "0x1", tokenId: "-1" } } }).catch((error) => error);
  assert.ok(wrong instanceof client.InvalidInputError && wrong instanceof client.MomentsError);
  assert.deepEqual(wrong.fields.map(({ field }) => field).slice(0, 2), ["moment.collectionAddress", "moment.tokenId"]);
  assert.match(wrong.requestId, /./);
  const stranger = new Moments({ baseUrl: stack.api, apiKey: "moments_x" });
  await assert.rejects(stranger.write("/moment/migrate", { body: {} }), client.UnauthorizedError);
  const query = { collectionAddress: `0x${"1".repeat(40)}`, tokenId: "1" };
  await assert.rejects(moments.get("/moment", { params: { query } }), client.NotFoundError);
  const { query: moment } = await publish(moments);
  const poor = await moments.write("/moment/collect", { body: { moment, amount: 1 } }).catch((error) => error);
  assert.ok(poor instanceof client.PaymentRequiredError, String(poor));
});

test("an error says by itself what is wrong, all of it", async () => {
  const { moments } = await newArtist();
  const wrong = await moments.post("/sale", { body: { moment: { collectionAddress: "0x1", tokenId: "-1" } } }).catch(String);
  assert.match(wrong, /^InvalidInputError: moment\.collectionAddress must be an address.*; moment\.tokenId must be /);
});

test("a picture is uploaded, published, and read", async () => {
  const { moments } = await newArtist();
  const told = [];
  const stored = await moments.upload(new Uint8Array(picture), { onProgress: (progress) => told.push(progress) });
  assert.match(stored.uri, /^ipfs:\/\/baf/);
  assert.equal(stored.contentType, "image/png");
  assert.deepEqual(await bytesAt(stored.url), picture);
  const [size, step] = [picture.length, "sending"];
  assert.deepEqual(told.slice(0, 2), [{ step, done: 0, size }, { step, done: size, size }]);

  const file = new File([picture], "tides.png", { type: "image/png" });
  const words = { title: "High water", description: "At four", alt: "A page", price: "0.01 ETH", copies: 5, newCollection: "Tides" };
  const published = await moments.publish(file, words);
  const { collectionAddress, tokenId, hash, page } = published;
  assert.match(hash, /^0x[0-9a-f]{64}$/);
  assert.equal(published.uri, stored.uri);
  const moment = await until(async () => {
    const found = await moments.get("/moment", { params: { query: { collectionAddress, tokenId } } });
    assert.ok(found.metadata);
    return found;
  });
  const { metadata, sale, supply, collection } = moment;
  assert.equal(page, moment.page);
  assert.deepEqual([metadata.name, metadata.description, metadata.alt, metadata.image], ["High water", "At four", "A page", stored.uri]);
  assert.deepEqual([sale.type, sale.pricePerToken, supply.max, collection.name], ["fixedPrice", String(10n ** 16n), "5", "Tides"]);
});

test("a text is published for dollars into the artist's collection, once under one key", async () => {
  const { moments } = await newArtist();
  const options = { title: "Tides", contentType: "text/plain", price: "5 USDC", idempotencyKey: crypto.randomUUID() };
  const text = new TextEncoder().encode("It came in at four.");
  const first = await moments.publish(text, options);
  assert.deepEqual(await moments.publish(text, options), first);
  const { collectionAddress, tokenId } = first;
  const moment = await until(async () => {
    const found = await moments.get("/moment", { params: { query: { collectionAddress, tokenId } } });
    assert.ok(found.metadata);
    return found;
  });
  assert.deepEqual([moment.metadata.animation_url, moment.metadata.content.mime], [first.uri, "text/plain; charset=utf-8"]);
  const [, dollars] = (await moments.get("/chains")).chains.find(({ chainId }) => chainId === 8453).currencies;
  assert.deepEqual([moment.sale.type, moment.sale.pricePerToken, moment.sale.currency], ["erc20Mint", "5000000", dollars.address]);
  const third = await moments.publish(text, { title: "Ebb", contentType: "text/plain", collection: collectionAddress });
  assert.equal(third.collectionAddress, collectionAddress);
  const wrong = [["5 DAI", /in ETH or USDC: not DAI/], ["5", /such as 0\.01 ETH/], ["0.0000001 USDC", /at most 6 decimals/]];
  for (const [price, message] of wrong) await assert.rejects(moments.publish(text, { ...options, price }), message);
  await assert.rejects(moments.publish(text, { ...options, collection: "0x1", newCollection: "Tides" }), /not both/);
});

/** A service that takes an upload of two parts, and the storage that takes these; what is told and asked for is kept. */
function storage(...answers) {
  const asked = [];
  const fetch = async (request) => {
    const { method, url, headers } = request;
    const body = method === "PUT" ? await request.text() : undefined;
    asked.push({ call: `${method} ${new URL(url).pathname}`, key: headers.get("x-api-key"), type: headers.get("content-type"), body });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, moments: new Moments({ baseUrl: "https://example.com/api", apiKey: "moments_x", fetch }) };
}

const BEGUN = {
  uploadId: "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c",
  parts: [{ offset: 0, size: 4, url: "https://files.example/1" }, { offset: 4, size: 2, url: "https://files.example/2" }],
};
const STORED = { uri: "ipfs://baf", url: "https://files.example/baf", contentType: "text/plain", size: 6 };

test("a lost part is sent again, with nobody's key, and hashing is waited for", async () => {
  const wait = { status: 202, headers: { "retry-after": "0" } };
  const busy = { status: 409, headers: { "retry-after": "0" } };
  const { asked, moments } = storage(
    Response.json(BEGUN),
    new TypeError("connection lost"),
    new Response("", { status: 503 }),
    new Response(""),
    new Response(""),
    Response.json({ uploadId: BEGUN.uploadId, hashed: 3, size: 6 }, wait),
    new TypeError("connection lost"),
    Response.json({ status: "error", message: "Another request is completing this upload" }, busy),
    Response.json(STORED),
  );
  const told = [];
  const onProgress = ({ step, done }) => told.push([step, done]);
  assert.deepEqual(await moments.upload(new Blob(["abcdef"]), { contentType: "text/plain", onProgress }), STORED);
  const complete = `POST /api/uploads/${BEGUN.uploadId}/complete`;
  const part = (number, body) => ({ call: `PUT /${number}`, key: null, type: null, body });
  assert.deepEqual(asked.slice(1, 5), [part(1, "abcd"), part(1, "abcd"), part(1, "abcd"), part(2, "ef")]);
  assert.deepEqual(asked.slice(5).map(({ call, key }) => [call, key]), Array(4).fill([complete, "moments_x"]));
  assert.deepEqual(told, [["sending", 0], ["sending", 4], ["sending", 6], ["hashing", 3]]);
});

test("a part that the storage refuses is said, and not sent again", async () => {
  const { asked, moments } = storage(Response.json(BEGUN), new Response("<Error>", { status: 403 }));
  const refused = await moments.upload(new Blob(["abcdef"])).catch((error) => error);
  assert.ok(refused instanceof client.MomentsError);
  assert.equal(refused.message, "The storage refused bytes 0 to 4 with 403: upload the file again");
  assert.equal(asked.length, 2);
  const stopped = storage(Response.json(BEGUN), new Response(""));
  const controller = new AbortController();
  const onProgress = ({ done }) => done === 4 && controller.abort(new Error("enough"));
  await assert.rejects(stopped.moments.upload(new Blob(["abcdef"]), { onProgress, signal: controller.signal }), /enough/);
  assert.equal(stopped.asked.length, 2);
});

test("a request waits as long as the service asks, and no longer than it may", async () => {
  const answers = (headers) => [new Response("{}", { status: 429, headers }), Response.json({ artists: [] })];
  const call = async (headers, options) => {
    const left = answers(headers);
    const moments = new Moments({ baseUrl: "https://example.com/api", fetch: async () => left.shift(), ...options });
    return moments.get("/artists/search", { params: { query: { query: "ada" } } });
  };
  assert.deepEqual(await call({ "retry-after": "0" }), { artists: [] });
  const refused = await call({ "retry-after": "3600" }).catch((error) => error);
  assert.ok(refused instanceof client.RateLimitedError);
  assert.equal(refused.retryAfter, 3600);
  await assert.rejects(call({}, { retries: 0 }), client.RateLimitedError);
});

test("what may have been done is repeated only if that is safe", async () => {
  const call = async (write, ...answers) => {
    let sent = 0;
    const fetch = async () => answers[sent++] ?? Response.json({});
    const moments = new Moments({ baseUrl: "https://example.com/api", fetch, retries: 1 });
    const calling = write ? moments.sendCode("ada@example.com") : moments.get("/chains");
    return [await calling.then(() => "done", (error) => error.name), sent];
  };
  const answer = (status, headers = {}) => new Response("<html>", { status, headers });
  for (const status of [500, 502, 503, 504]) {
    assert.deepEqual(await call(false, answer(status)), ["done", 2]);
    assert.deepEqual(await call(true, answer(status)), ["ServiceError", 1]);
  }
  assert.deepEqual(await call(true, answer(503, { "retry-after": "0" })), ["done", 2]);
});

test("a write that still runs is waited for under the same key", async () => {
  const keys = [];
  const headers = { "retry-after": "0" };
  const answers = [
    Response.json({ status: "error", message: "A request with this key is being answered" }, { status: 409, headers }),
    Response.json({ transactionId: "1", status: "sent", chainId: 8453 }, { status: 202, headers }),
    Response.json({ hash: "0x1", chainId: 8453 }),
    Response.json({ status: "error", message: "used for another request" }, { status: 409 }),
  ];
  const fetch = async (request) => {
    keys.push(request.headers.get("idempotency-key"));
    return answers.shift();
  };
  const moments = new Moments({ baseUrl: "https://example.com/api", fetch });
  const body = { moment: { collectionAddress: "0x1", tokenId: "1" }, saleEnd: 1 };
  assert.equal((await moments.write("/sale", { body })).hash, "0x1");
  assert.deepEqual([keys.length, new Set(keys).size], [3, 1]);
  await assert.rejects(moments.write("/sale", { body }), client.ConflictError);
});

test("a key and a token each do", async () => {
  const email = unusedEmail();
  const moments = new Moments({ baseUrl: stack.api });
  await moments.sendCode(email);
  const { token } = await moments.logIn(email, await codeFor(email));
  const apiKey = await moments.createApiKey();
  await new Moments({ baseUrl: stack.api, apiKey }).write("/collections", { body: { name: "Tides", uri: "ar://tides" } });
  for (const credentials of [{ apiKey }, { token }]) {
    const { transactions } = await new Moments({ baseUrl: stack.api, ...credentials }).get("/transactions");
    assert.equal(transactions.length, 1);
  }
  const { keys } = await new Moments({ baseUrl: stack.api, token }).get("/artists/api-keys");
  assert.equal(keys.length, 1);
  await assert.rejects(new Moments({ baseUrl: stack.api, apiKey }).get("/artists/api-keys"), client.UnauthorizedError);
});

test("a webhook's signature is checked", async () => {
  const key = randomBytes(24);
  const secret = `whsec_${key.toString("base64")}`;
  const body = '{"type":"moment.collected"}';
  const signed = (timestamp) => {
    const signature = createHmac("sha256", key).update(`msg_1.${timestamp}.${body}`).digest("base64");
    return { "webhook-id": "msg_1", "webhook-timestamp": String(timestamp), "webhook-signature": `v1,AAAA v1,${signature}` };
  };
  const now = Math.floor(Date.now() / 1000);
  assert.deepEqual(await verifyWebhook({ secret, headers: signed(now), body }), { type: "moment.collected" });
  assert.ok(await verifyWebhook({ secret: ["whsec_AAAA", secret], headers: new Headers(signed(now)), body }));
  for (const [headers, text] of [[signed(now), `${body} `], [signed(now - 301), body], [signed(now + 301), body], [{}, body]]) {
    await assert.rejects(verifyWebhook({ secret, headers, body: text }), client.InvalidWebhookError);
  }
});

test("a webhook's signature is that of the published library, both ways", async () => {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const published = new Webhook(secret);
  const body = JSON.stringify({ type: "moment.collected", text: "Gezeiten — 潮" });
  const now = new Date();
  const seconds = String(Math.floor(now.getTime() / 1000));
  const headers = { "webhook-id": "msg_2", "webhook-timestamp": seconds, "webhook-signature": published.sign("msg_2", now, body) };
  assert.deepEqual(await verifyWebhook({ secret, headers, body }), JSON.parse(body));
  assert.deepEqual(published.verify(body, headers), await verifyWebhook({ secret, headers, body }));
  // What one refuses, the other refuses too.
  for (const change of [{ "webhook-id": "msg_3" }, { "webhook-timestamp": String(seconds - 400) }, { "webhook-signature": "v1,AAAA" }, { "webhook-signature": "v2,AAAA" }]) {
    const changed = { ...headers, ...change };
    assert.throws(() => published.verify(body, changed));
    await assert.rejects(verifyWebhook({ secret, headers: changed, body }), client.InvalidWebhookError);
  }
});

test("the reference of the package is made, and its links lead somewhere", async () => {
  const out = mkdtempSync(join(tmpdir(), "moments-"));
  await run(join(folder, "node_modules/.bin/typedoc"), ["--out", out], { cwd: folder });
  assert.ok(readdirSync(join(out, "classes")).includes("Moments.html"));
});

test("amounts are exact", () => {
  assert.equal(parseAmount("0.000000000000000001", 18), 1n);
  assert.equal(parseAmount("1.50", 6), 1_500_000n);
  assert.equal(formatAmount(parseAmount("123456789.123456789012345678", 18), 18), "123456789.123456789012345678");
  assert.equal(formatAmount("0", 18), "0");
  for (const text of ["", "1e3", "-1", "0.0000001", ".5", "1."]) assert.throws(() => parseAmount(text, 6), RangeError, text);
});

test("types refuse what the service would", async () => {
  const tsc = join(root, "tests/clients/node_modules/.bin/tsc");
  await run(tsc, ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--exactOptionalPropertyTypes", join(root, "tests/clients/types.ts")]);
});

test("the package is small, and whole", async () => {
  const bundle = { entryPoints: [join(folder, "dist/index.js")], bundle: true, minify: true, format: "esm", write: false };
  const size = gzipSync(buildSync(bundle).outputFiles[0].contents).length;
  console.log(`the client with all that it needs: ${size} bytes of gzip`);
  assert.ok(size <= 12 * 1024);
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  assert.deepEqual(Object.keys(dependencies), ["openapi-fetch"]);
  const tool = (name) => join(root, "tests/clients/node_modules/.bin", name);
  await run(tool("publint"), ["--strict", folder]);
  const temporary = mkdtempSync(join(tmpdir(), "moments-"));
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", temporary], { cwd: folder });
  const [packed] = readdirSync(temporary);
  await run(tool("attw"), ["--profile", "esm-only", join(temporary, packed)]);
});

test("money buys a moment", async () => {
  const { moments, account } = await newArtist();
  const { query } = await publish(moments);
  await askNode("anvil_setBalance", [account, "0xde0b6b3a7640000"]);
  await moments.write("/moment/collect", { body: { moment: query, amount: 1, comment: "High water" } });
  await until(async () => {
    const { comments } = await moments.get("/comments", { params: { query } });
    assert.equal(comments[0].comment, "High water");
  });
});
