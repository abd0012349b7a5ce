// The checked-in artifact is what the pinned compiler makes of the source.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { artifactPath, compile } from "./compile.mjs";

test("LaneGuard.json is reproduced from LaneGuard.sol", () => {
  assert.equal(readFileSync(artifactPath, "utf8"), compile(), "run: node contracts/compile.mjs");
});

test("the compiler is the pinned one", () => {
  assert.match(JSON.parse(readFileSync(artifactPath, "utf8")).compiler, /^0\.8\.23\+commit\.f704f362\./);
});

test("the guard stays short enough to be read", () => {
  const lines = readFileSync(new URL("LaneGuard.sol", import.meta.url), "utf8").trimEnd().split("\n");
  assert.ok(lines.length < 100, `${lines.length} lines`);
});
