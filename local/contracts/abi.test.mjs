// Our comments contract replaces the deployed one locally, so its interface must be part of the deployed interface.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { commentsABI } from "@zoralabs/protocol-deployments";

/** Items that differ from the deployed contract's newest interface. */
const ONLY_OURS = [
  // Ours takes one account for all roles.
  "initialize",
  // The error of versions up to 0.0.3, which some chains still have.
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

test("our comments contract's interface is part of the deployed one", () => {
  const deployed = new Set(commentsABI.map(signature));
  const offered = ours.filter(({ name }) => !ONLY_OURS.includes(name)).map(signature);
  assert.deepEqual(offered.filter((item) => !deployed.has(item)), []);
});

test("our comments contract has every item that the service uses", () => {
  const names = new Set(ours.map(({ name }) => name));
  assert.deepEqual(USED_BY_THE_SERVICE.filter((name) => !names.has(name)), []);
});

/** Compiles into the local stack's folder, so that each contract is compiled once for both. */
function compiledAbi(contract) {
  const folder = fileURLToPath(new URL("../../.local/contracts", import.meta.url));
  execFileSync(process.execPath, [fileURLToPath(new URL("compile.mjs", import.meta.url)), folder]);
  return JSON.parse(readFileSync(join(folder, `${contract}.json`), "utf8")).abi;
}

/** An ABI item without parameter names, which aren't part of the interface. */
function signature({ type, name, inputs = [], outputs = [], stateMutability = "" }) {
  return `${type} ${name}(${inputs.map(parameter)}) ${stateMutability} (${outputs.map(parameter)})`;
}

function parameter({ type, components, indexed }) {
  const base = components ? type.replace("tuple", `(${components.map(parameter)})`) : type;
  return indexed ? `${base} indexed` : base;
}
