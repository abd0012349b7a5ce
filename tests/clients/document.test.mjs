// The API description: valid, without findings of the linters, in both versions, and with no number that a double rounds.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { root, run, stack } from "./support.mjs";

const folder = join(root, "tests/clients");
const tool = (name) => join(folder, "node_modules/.bin", name);
const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
const temporary = mkdtempSync(join(tmpdir(), "moments-"));

/** What programs read of a document, as a file. */
async function served(name) {
  const file = join(temporary, name);
  writeFileSync(file, await (await fetch(`${stack.api}/${name}`)).text());
  return file;
}

test("validator and linters find nothing", async () => {
  const file = await served("openapi.json");
  const [answered, written] = [file, join(root, "openapi.json")].map((path) => JSON.parse(readFileSync(path, "utf8")));
  // The service names its own chains.
  const { ChainId } = answered.components.schemas;
  assert.match(ChainId.description, /^EIP-155 id of a supported chain: \d/);
  written.components.schemas.ChainId.description = ChainId.description;
  assert.deepEqual(answered, written);
  await run(join(folder, ".venv/bin/openapi-spec-validator"), [file]);
  await run(tool("redocly"), ["lint", "--config", join(folder, "redocly.yaml"), file], { env });
  await run(tool("spectral"), ["lint", "--ruleset", join(folder, ".spectral.yaml"), "--fail-severity", "hint", file], { env });
});

test("older form is valid, too", async () => {
  const file = await served("openapi-3.0.json");
  await run(join(folder, ".venv/bin/openapi-spec-validator"), ["--schema", "3.0", file]);
  await run(tool("redocly"), ["lint", "--config", join(folder, "redocly.yaml"), file], { env });
  const [newer, older] = [await served("openapi.json"), file].map((name) => JSON.parse(readFileSync(name, "utf8")));
  const ids = ({ paths }) => Object.values(paths).flatMap((item) => Object.values(item).map((operation) => operation.operationId));
  assert.deepEqual(ids(older), ids(newer));
  assert.deepEqual(Object.keys(older.components.schemas), Object.keys(newer.components.schemas));
});

test("what may be null in an answer may be so in the older form, too", async () => {
  const [newer, older] = [await served("openapi.json"), await served("openapi-3.0.json")].map((name) => JSON.parse(readFileSync(name, "utf8")).components.schemas);
  const mayBeNull = ({ type, oneOf, anyOf, nullable }) => nullable || type?.includes?.("null") || [...(oneOf ?? []), ...(anyOf ?? [])].some((choice) => choice.type === "null");
  let compared = 0;
  for (const [name, { properties = {}, required = [] }] of Object.entries(newer)) {
    for (const field of required.filter((field) => mayBeNull(properties[field]))) {
      assert.ok(mayBeNull(older[name].properties[field]), `${name}.${field}`);
      compared++;
    }
  }
  assert.ok(compared > 10);
});

test("a double holds every number", () => {
  const text = readFileSync(join(root, "openapi.json"), "utf8");
  const numbers = [...text.matchAll(/^\s*(?:"[^"]*": )?(-?\d[\d.e+]*),?$/gm)].map(([, number]) => number);
  assert.deepEqual(numbers.filter((number) => String(Number(number)) !== number && `${Number(number)}.0` !== number), []);
});
