// Our comments contract stands in for the deployed one: whatever it offers must look the same from outside.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { commentsABI } from "@zoralabs/protocol-deployments";

/** What the deployed contract's newest interface has otherwise or no more. */
const OURS_ALONE = [
  // Ours needs no more than one account for all roles.
  "initialize",
  // The rule, and its error with it, is that of versions up to 0.0.3; some chains still have those.
  "NotTokenHolderOrAdmin",
];

const USED_BY_THE_SERVICE = [
  "comment",
  "sparkComment",
  "delegateComment",
  "backfillBatchAddComment",
  "hashCommentIdentifier",
  "nextNonce",
  "sparkValue",
  "Commented",
  "BackfilledComment",
  "SparkedComment",
];

const ours = compiledAbi("Comments");

test("whatever our comments contract offers is part of the deployed interface", () => {
  const deployed = new Set(commentsABI.map(signature));
  const offered = ours.filter(({ name }) => !OURS_ALONE.includes(name)).map(signature);
  assert.deepEqual(offered.filter((item) => !deployed.has(item)), []);
});

test("our comments contract offers everything that the service uses", () => {
  const names = new Set(ours.map(({ name }) => name));
  assert.deepEqual(USED_BY_THE_SERVICE.filter((name) => !names.has(name)), []);
});

/** Compiled where the local stack looks for it, so that it is compiled once for both. */
function compiledAbi(contract) {
  const folder = fileURLToPath(new URL("../../.local/contracts", import.meta.url));
  execFileSync(process.execPath, [fileURLToPath(new URL("compile.mjs", import.meta.url)), folder]);
  return JSON.parse(readFileSync(join(folder, `${contract}.json`), "utf8")).abi;
}

/** An ABI item without the names of its parameters, which nothing on the chain depends on. */
function signature({ type, name, inputs = [], outputs = [], stateMutability = "" }) {
  return `${type} ${name}(${inputs.map(parameter)}) ${stateMutability} (${outputs.map(parameter)})`;
}

function parameter({ type, components, indexed }) {
  const base = components ? type.replace("tuple", `(${components.map(parameter)})`) : type;
  return indexed ? `${base} indexed` : base;
}
