// Compiles the contracts of this folder: `node local/contracts/compile.mjs <output folder>` writes one
// `<contract>.json` each, of the shape `{abi, bytecode, deployedBytecode}`. Compiles only groups in which something has
// changed.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** What is compiled together. */
const GROUPS = {
  comments: { contracts: ["Comments", "TestCurrency"] },
  splits: { contracts: ["PushSplit", "PushSplitFactory"] },
};

const require = createRequire(import.meta.url);
const sourceOf = (contract) => readFileSync(new URL(`${contract}.sol`, import.meta.url), "utf8");

const out = process.argv[2];
if (!out) fail("usage: compile.mjs <output folder>");
mkdirSync(out, { recursive: true });
for (const [name, group] of Object.entries(GROUPS)) {
  const stamp = currentStamp(group);
  if (storedStamp(name) === stamp) continue;
  for (const [contract, artifact] of compile(group)) write(`${contract}.json`, JSON.stringify(artifact));
  write(`${name}.stamp`, stamp);
}

/** Changes with everything that a group's output depends on. */
function currentStamp({ contracts }) {
  const script = readFileSync(new URL(import.meta.url), "utf8");
  const versions = ["solc", "@openzeppelin/contracts"].map((name) => require(`${name}/package.json`).version);
  return createHash("sha256").update(JSON.stringify([script, contracts.map(sourceOf), versions])).digest("hex");
}

function storedStamp(group) {
  try {
    return readFileSync(join(out, `${group}.stamp`), "utf8");
  } catch {
    return undefined;
  }
}

function compile({ contracts }) {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(contracts.map((contract) => [`${contract}.sol`, { content: sourceOf(contract) }])),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
    },
  };
  // Only here, since loading the compiler takes longer than finding that there is nothing to do.
  const solc = require("solc");
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: resolveImport }));
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) fail(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));

  return contracts.map((contract) => {
    const { abi, evm } = output.contracts[`${contract}.sol`][contract];
    const [bytecode, deployedBytecode] = [evm.bytecode, evm.deployedBytecode].map(({ object }) => `0x${object}`);
    return [contract, { abi, bytecode, deployedBytecode }];
  });
}

function resolveImport(path) {
  try {
    return { contents: readFileSync(require.resolve(path), "utf8") };
  } catch (error) {
    return { error: error.message };
  }
}

/** Renamed into place, so that a reader at the same time sees the whole file or the one before. */
function write(name, text) {
  const temporary = join(out, `${name}.${process.pid}`);
  writeFileSync(temporary, text);
  renameSync(temporary, join(out, name));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
