// Publishes through the service's own endpoints, for the tests of what people see.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { write } from "../clients/support.mjs";
import { askNode, codesFor, found, stack, unusedEmail } from "./support.mjs";

const TYPES = { ".png": "image/png", ".gif": "image/gif", ".wav": "audio/wav" };

/** A signed-in artist, with the means to pay. */
export async function newArtist(username) {
  const [email, nonce] = [unusedEmail(), crypto.randomUUID()];
  await send(null, "POST", "oauth/code", { email, nonce });
  const code = await found(async () => (await codesFor(email)).at(-1), "the code");
  const { token, social_wallet: account } = await send(null, "POST", "oauth/login", { email, code, nonce });
  const artist = { email, token, account, username };
  if (username) await send(artist, "PATCH", "artists/me", { username, bio: "Prints, loops and other small hours.\nSince 2019." });
  await askNode("anvil_setBalance", [account, "0xde0b6b3a7640000"]);
  return artist;
}

/** Sends a request, a write until it is mined and an upload until it is stored; fails with what the service says. */
export async function send(artist, method, path, body, headers = {}) {
  const authorization = artist ? { authorization: `Bearer ${artist.token}` } : {};
  const response = await write(`${stack.api}/${path}`, { method, headers: { "content-type": "application/json", ...authorization, ...headers }, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Stores a file, and returns its URI and size. */
export async function upload(artist, file) {
  const bytes = readFileSync(file);
  const { uploadId, parts } = await send(artist, "POST", "uploads", { contentType: TYPES[extname(file)], size: bytes.length });
  for (const { url, offset, size } of parts) assert.ok((await fetch(url, { method: "PUT", body: bytes.subarray(offset, offset + size) })).ok);
  const stored = await send(artist, "POST", `uploads/${uploadId}/complete`, {});
  return { uri: stored.uri, mime: stored.contentType, size: bytes.length };
}

/** Publishes works of one new collection, and returns their moments as answers show them, with previews. */
export async function publish(artist, name, works) {
  const sale = (price, start) => ({ type: "fixedPrice", pricePerToken: String(price ?? 0), saleStart: start ?? 0, saleEnd: "18446744073709551615" });
  const token = ({ metadata, price, start }) => ({ metadata, salesConfig: sale(price, start) });
  const body = { contract: { name, uri: "ipfs://bafybeidemofirstlight/collection.json" }, tokens: works.map(token) };
  const { contractAddress } = await send(artist, "POST", "moment/create-batch", body);
  const read = async (tokenId) => {
    const answer = await fetch(`${stack.api}/moment?collectionAddress=${contractAddress}&tokenId=${tokenId}&n=${crypto.randomUUID()}`);
    const moment = answer.ok && (await answer.json());
    return moment && moment.metadata && (!works[tokenId - 1].metadata.image || moment.metadata.placeholder) && moment;
  };
  const moments = [];
  for (let id = 1; id <= works.length; id++) moments.push(await found(() => read(id), `token ${id} with its picture`));
  return { address: contractAddress, moments };
}
