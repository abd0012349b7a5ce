// Compiles LaneGuard.sol with the pinned compiler: `node contracts/compile.mjs` writes LaneGuard.json, which is checked
// in, and `node --test contracts/guard.test.mjs` compares it. The compiler is the local stack's (`make tools`).
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const COMPILER = "solc-0.8.23";
const SOURCE = "LaneGuard.sol";

/** Everything that the bytecode depends on besides the source and the compiler. */
const SETTINGS = {
  evmVersion: "paris",
  optimizer: { enabled: true, runs: 1_000_000 },
  // The older pipeline has too few stack slots for the eleven arguments of checkTransaction.
  viaIR: true,
  // No hash of the metadata, so that comments don't change the bytecode.
  metadata: { appendCBOR: false, bytecodeHash: "none" },
};

export const artifactPath = fileURLToPath(new URL("LaneGuard.json", import.meta.url));

/** The artifact, as text. */
export function compile() {
  const solc = createRequire(new URL("../local/package.json", import.meta.url))(COMPILER);
  const content = readFileSync(new URL(SOURCE, import.meta.url), "utf8");
  const outputSelection = { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode"] } };
  const settings = { ...SETTINGS, outputSelection };
  const input = { language: "Solidity", sources: { [SOURCE]: { content } }, settings };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const errors = (output.errors ?? []).map(({ formattedMessage }) => formattedMessage);
  if (errors.length > 0) throw new Error(errors.join("\n"));
  const { abi, evm } = output.contracts[SOURCE].LaneGuard;
  const { object, immutableReferences } = evm.deployedBytecode;
  const artifact = {
    contract: "LaneGuard",
    compiler: solc.version(),
    settings: SETTINGS,
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${object}`,
    // Where the constructor's arguments stand in the deployed bytecode, in the order of declaration.
    immutables: Object.keys(immutableReferences).sort((one, other) => one - other).map((id) => immutableReferences[id]),
  };
  return `${JSON.stringify(artifact, null, 2)}\n`;
}

if (argv[1] === fileURLToPath(import.meta.url)) writeFileSync(artifactPath, compile());
