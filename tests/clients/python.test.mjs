// The Python client: its types, its package, and its tests, which call the running service.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { root, run, stackFile } from "./support.mjs";

const folder = join(root, "clients/python");
const tests = join(root, "tests/clients/python");
const tool = (name) => join(root, "tests/clients/.venv/bin", name);
const temporary = mkdtempSync(join(tmpdir(), "moments-"));
const site = join(temporary, "site");
const env = { ...process.env, PYTHONPATH: site, PYTHONDONTWRITEBYTECODE: "1", MYPYPATH: site, MOMENTS_STACK: stackFile };

// All below is of the package as users install it.
before(async () => {
  await run(tool("python"), ["-m", "build", "--no-isolation", "--outdir", temporary, folder]);
  const packages = readdirSync(temporary).filter((name) => /\.(whl|gz)$/.test(name));
  assert.deepEqual(packages.sort(), ["moments_client-1.0.0-py3-none-any.whl", "moments_client-1.0.0.tar.gz"]);
  await run(tool("twine"), ["check", "--strict", ...packages.map((name) => join(temporary, name))]);
  await run(tool("python"), ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, join(temporary, packages[0])]);
});

test("the package is typed, strictly", async () => {
  assert.ok(readdirSync(join(site, "moments_client")).includes("py.typed"));
  const cache = ["--strict", "--cache-dir", join(temporary, "mypy")];
  await run(tool("mypy"), [...cache, "--package", "moments_client"], { cwd: temporary, env });
  await run(tool("mypy"), [...cache, join(tests, "test_client.py"), join(tests, "typing_rules.py")], { cwd: temporary, env });
});

test("calls, sync and async", async () => {
  await run(tool("python"), ["-m", "unittest", "-v", "test_client"], { cwd: tests, env });
});
