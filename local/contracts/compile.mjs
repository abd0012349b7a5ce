// Compiles what the local chains need: `node local/contracts/compile.mjs <output folder>` writes one `<contract>.json`
// per source file, of the shape `{abi, bytecode}`. Does only groups in which something has changed.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const NOUNS = "@nouns/contracts/dist/typechain/factories/contracts";

/** What is compiled together: sources of this folder or of npm packages. Without a compiler: what is compiled already. */
const GROUPS = {
  comments: { compiler: "solc", sources: ["Comments.sol", "TestCurrency.sol"] },
  splits: { compiler: "solc", sources: ["PushSplit.sol", "PushSplitFactory.sol"] },
  timedSale: {
    compiler: "solc-0.8.23",
    sources: ["TimedSaleToken.sol", "@zoralabs/erc20z/src/minter/ZoraTimedSaleStrategyImpl.sol"],
    dependent: "@zoralabs/erc20z",
  },
  registry: { compiler: "solc", sources: ["Release.sol", "ReleaseController.sol", "ReleaseFactory.sol"] },
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

/** Changes with everything that a group's output depends on. */
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
      // Local chains have no limit on the size of code, and this takes half the time.
      optimizer: { enabled: false },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
      // As in the configuration that the package's own authors build with.
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
  // Only here, since loading the compiler takes longer than finding that there is nothing to do.
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

/** Bytecode from modules that hold it as a constant. It isn't worth loading them: they need all of a large library. */
function extract(group) {
  return group.sources.map((path) => {
    const [, bytecode] = /const _bytecode = "(0x[0-9a-f]+)";/.exec(read(path, group)) ?? fail(`${path}: no bytecode`);
    return [basename(path, "__factory.js"), { bytecode }];
  });
}

/** A file of this folder or of a package, in the version that the group's package depends on. */
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
