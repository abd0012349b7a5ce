// Compiles the contracts of the local chains: `node local/contracts/compile.mjs <output folder>` writes a `<contract>.json`
// per source file, as `{abi, bytecode}`. Groups without changes are skipped.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const NOUNS = "@nouns/contracts/dist/typechain/factories/contracts";

/** Sources that are compiled together, from this folder or npm packages. Groups without a compiler are compiled already. */
const GROUPS = {
  comments: { compiler: "solc", sources: ["Comments.sol", "TestCurrency.sol"] },
  splits: { compiler: "solc", sources: ["PushSplit.sol", "PushSplitFactory.sol"] },
  timedSale: {
    compiler: "solc-0.8.23",
    sources: ["TimedSaleToken.sol", "@zoralabs/erc20z/src/minter/ZoraTimedSaleStrategyImpl.sol"],
    dependent: "@zoralabs/erc20z",
  },
  registry: { compiler: "solc", sources: ["Release.sol", "ReleaseController.sol", "ReleaseFactory.sol"] },
  multicall: { compiler: "solc", sources: ["Multicall3.sol"] },
  hostile: { compiler: "solc", sources: ["Hostile.sol", "HostileCollection.sol"] },
  editions: { compiler: "solc", sources: ["Edition.sol", "EditionMetadata.sol", "EditionCreator.sol"] },
  bravo: { compiler: "solc", sources: ["BravoGovernor.sol", "VotesToken.sol"] },
  nouns: {
    sources: [
      `${NOUNS}/governance/NounsDAOExecutor__factory.js`,
      `${NOUNS}/governance/NounsDAOLogicV1__factory.js`,
      `${NOUNS}/test/NounsTokenHarness__factory.js`,
    ],
  },
};

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PACKAGES = join(HERE, "../node_modules");

const out = process.argv[2];
if (!out) fail("usage: compile.mjs <output folder>");
mkdirSync(out, { recursive: true });
for (const [name, group] of Object.entries(GROUPS)) {
  const stamp = currentStamp(group);
  if (storedStamp(name) === stamp) continue;
  const artifacts = group.compiler ? compile(group) : extract(group);
  for (const [contract, artifact] of artifacts) write(`${contract}.json`, JSON.stringify(artifact));
  write(`${name}.stamp`, stamp);
}

/** Hash of all inputs of a group's output. */
function currentStamp(group) {
  const script = readFileSync(fileURLToPath(import.meta.url), "utf8");
  const sources = group.sources.map((path) => read(path, group));
  const tools = group.compiler ? [group.compiler, "@openzeppelin/contracts"] : [];
  const versions = tools.map((name) => JSON.parse(read(`${name}/package.json`, group)).version);
  return createHash("sha256").update(JSON.stringify([script, sources, versions])).digest("hex");
}

function storedStamp(group) {
  try {
    return readFileSync(join(out, `${group}.stamp`), "utf8");
  } catch {
    return undefined;
  }
}

function compile(group) {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(group.sources.map((path) => [path, { content: read(path, group) }])),
    settings: {
      // Local chains don't limit the size of code, and compiling takes half the time.
      optimizer: { enabled: false },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
      // As in the package's own build configuration.
      remappings: ["@zoralabs/shared-contracts/=@zoralabs/shared-contracts/src/"],
    },
  };
  const resolveImport = (path) => {
    try {
      return { contents: read(path, group) };
    } catch (error) {
      return { error: error.message };
    }
  };
  // Loaded late: it takes longer than checking for changes.
  const solc = createRequire(import.meta.url)(group.compiler);
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: resolveImport }));
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) fail(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));

  return group.sources.map((path) => {
    const contract = basename(path, ".sol");
    const { abi, evm } = output.contracts[path][contract];
    return [contract, { abi, bytecode: `0x${evm.bytecode.object}` }];
  });
}

/** Reads bytecode constants out of modules. Importing the modules would need a large library. */
function extract(group) {
  return group.sources.map((path) => {
    const [, bytecode] = /const _bytecode = "(0x[0-9a-f]+)";/.exec(read(path, group)) ?? fail(`${path}: no bytecode`);
    return [basename(path, "__factory.js"), { bytecode }];
  });
}

/** Reads a file of this folder or of a package, in the version that the group's package depends on. */
function read(path, { dependent = "" }) {
  for (const folder of [HERE, join(PACKAGES, dependent, "node_modules"), PACKAGES]) {
    try {
      return readFileSync(join(folder, path), "utf8");
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }
  throw new Error(`${path}: no such file`);
}

/** Writes atomically by renaming. */
function write(name, text) {
  const temporary = join(out, `${name}.${process.pid}`);
  writeFileSync(temporary, text);
  renameSync(temporary, join(out, name));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
