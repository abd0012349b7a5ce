// Clients that generators make of the API description: each compiled with its strictest settings, and each doing one read, one
// paged read, one write under an idempotency key, one error, and a sale that is read, edited and sent back (README.md).

import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { buildSync } from "esbuild";
import { PATIENCE } from "../page/patience.mjs";
import { publishedSale } from "./published.mjs";
import { root, run } from "./support.mjs";

const folder = join(root, "tests/clients");
const tool = (name) => join(folder, "node_modules/.bin", name);
const python = (name) => join(folder, ".venv/bin", name);
const temporary = mkdtempSync(join(tmpdir(), "moments-"));
symlinkSync(join(folder, "node_modules"), join(temporary, "node_modules"));
let env;

before(async () => (env = { ...process.env, ...(await publishedSale()), PYTHONPATH: temporary }));

test("hey-api: strict types, and calls", async () => {
  await run(tool("openapi-ts"), ["-i", join(root, "openapi.json"), "-o", join(temporary, "hey"), "-c", "@hey-api/client-fetch"]);
  const file = join(temporary, "hey-calls.ts");
  writeFileSync(file, `
    import { createCollection, listTimeline, readMoment, updateSale } from "./hey";
    import { client } from "./hey/client.gen";

    declare const process: { env: Record<string, string> };
    const { API = "", KEY = "", COLLECTION = "", TOKEN = "" } = process.env;
    const auth = ({ name }: { name?: string }) => (name === "x-api-key" ? KEY : undefined);
    client.setConfig({ baseUrl: API });
    let seen = 0;
    for (let page = 1; page > 0; ) {
      const { data, response } = await listTimeline({ query: { collection: COLLECTION, limit: 2, page }, throwOnError: true });
      seen += data.moments.length;
      page = response.headers.has("link") ? page + 1 : 0;
    }
    if (seen !== 3) throw new Error("pages");
    const moment = { collectionAddress: COLLECTION, tokenId: TOKEN };
    const sale = async () => (await readMoment({ query: moment, throwOnError: true })).data.sale;
    const before = await sale();
    if (!before) throw new Error("no sale");
    const { saleStart, saleEnd, maxTokensPerAddress, fundsRecipient } = before;
    const edited = { moment, saleStart, saleEnd, maxTokensPerAddress, fundsRecipient, pricePerToken: "1" };
    await updateSale({ auth, body: edited, throwOnError: true });
    let changed = before;
    for (const end = Date.now() + ${PATIENCE}; changed.pricePerToken !== "1" && Date.now() < end; changed = (await sale()) ?? before) {
      await new Promise((done) => setTimeout(done, 200));
    }
    if (JSON.stringify(changed) !== JSON.stringify({ ...before, pricePerToken: "1" })) throw new Error("another sale");
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const body = { name: "Tides", uri: "ar://tides" };
    const send = () => createCollection({ auth, body, headers, throwOnError: true });
    let first = await send();
    // Not mined within 20 seconds.
    for (let tries = 1; tries < 9 && first.response.status === 202; tries++) first = await send();
    const again = await send();
    const hash: string | null | undefined = first.data.hash;
    if (!hash || hash !== again.data.hash) throw new Error("written twice");
    const query = { collectionAddress: "0x1111111111111111111111111111111111111111", tokenId: "1" };
    const missing = await readMoment({ query });
    if (missing.error?.status !== "error" || missing.response?.status !== 404) throw new Error("no error");
    const wrong = await readMoment({ query: { ...query, tokenId: "-1" } });
    if (wrong.error?.errors?.[0]?.field !== "tokenId") throw new Error("no fields");
  `);
  const options = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
  await run(tool("tsc"), [...options, file], { cwd: temporary });
  const bundle = join(temporary, "hey-calls.mjs");
  buildSync({ entryPoints: [file], bundle: true, format: "esm", platform: "node", target: "es2022", outfile: bundle });
  await run(process.execPath, [bundle], { env });
});

test("openapi-python-client: mypy in strict mode, and calls", async () => {
  const out = join(temporary, "generated");
  const config = join(temporary, "config.json");
  writeFileSync(config, JSON.stringify({ post_hooks: [] }));
  await run(python("openapi-python-client"), ["generate", "--path", join(root, "openapi.json"), "--meta", "none", "--output-path", out, "--config", config, "--fail-on-warning"]);
  const file = join(temporary, "calls.py");
  writeFileSync(file, `
import os
import time
import uuid

from generated import AuthenticatedClient, Client
from generated.api.activity import list_timeline
from generated.api.collections import create_collection
from generated.api.moments import read_moment, update_sale
from generated.models import CreateCollectionRequest, CreateCollectionResponse, Error, ListTimelineResponse, MinedTransaction, Moment, MomentRef, PendingTransaction, Sale, UpdateSaleRequest

client = Client(base_url=os.environ["API"])
collection, token = os.environ["COLLECTION"], os.environ["TOKEN"]
number, seen = 1, 0
while number:
    answer = list_timeline.sync_detailed(client=client, collection=collection, limit=2, page=number)
    assert isinstance(answer.parsed, ListTimelineResponse)
    seen += len(answer.parsed.moments)
    number = number + 1 if "link" in answer.headers else 0
assert seen == 3

artist = AuthenticatedClient(base_url=os.environ["API"], token=os.environ["KEY"], prefix="", auth_header_name="x-api-key", timeout=None)
key = str(uuid.uuid4())
body = CreateCollectionRequest(name="Tides", uri="ar://tides")
for _ in range(9):
    first = create_collection.sync(client=artist, body=body, idempotency_key=key)
    # Not mined within 20 seconds.
    if not isinstance(first, PendingTransaction):
        break
again = create_collection.sync(client=artist, body=body, idempotency_key=key)
assert isinstance(first, CreateCollectionResponse) and isinstance(again, CreateCollectionResponse)
assert first.hash_ == again.hash_



def sale() -> Sale:
    found = read_moment.sync(client=client, collection_address=collection, token_id=token)
    assert isinstance(found, Moment) and isinstance(found.sale, Sale)
    return found.sale


before = sale()
edited = UpdateSaleRequest(
    moment=MomentRef(collection_address=collection, token_id=token),
    sale_start=before.sale_start,
    sale_end=before.sale_end,
    max_tokens_per_address=before.max_tokens_per_address,
    funds_recipient=before.funds_recipient,
    price_per_token="2",
)
key = str(uuid.uuid4())
end = time.monotonic() + ${PATIENCE / 1000}
while isinstance(sold := update_sale.sync(client=artist, body=edited, idempotency_key=key), PendingTransaction):
    assert time.monotonic() < end, "not mined"
assert isinstance(sold, MinedTransaction)
while (changed := sale()).price_per_token != "2" and time.monotonic() < end:
    time.sleep(0.2)
assert changed.to_dict() == {**before.to_dict(), "pricePerToken": "2"}

missing = read_moment.sync(client=client, collection_address="0x" + "1" * 40, token_id="1")
assert isinstance(missing, Error) and missing.message
change = UpdateSaleRequest(moment=MomentRef(collection_address="0x1", token_id="1"), sale_end="18446744073709551615")
wrong = update_sale.sync(client=artist, body=change)
assert isinstance(wrong, Error) and wrong.errors and wrong.errors[0].field == "moment.collectionAddress"
`);
  await run(python("mypy"), ["--strict", "--cache-dir", join(temporary, "mypy"), file], { cwd: temporary, env: { ...env, MYPYPATH: temporary } });
  await run(python("python"), [file], { cwd: temporary, env });
});
