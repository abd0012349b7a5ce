// The Python client: its types, its package, and its tests, which call the running service.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { PATIENCE } from "../page/patience.mjs";
import { root, run, stackFile } from "./support.mjs";

const folder = join(root, "clients/python");
const tests = join(root, "tests/clients/python");
const tool = (name) => join(root, "tests/clients/.venv/bin", name);
const temporary = mkdtempSync(join(tmpdir(), "moments-"));
const site = join(temporary, "site");
const env = { ...process.env, PYTHONPATH: site, PYTHONDONTWRITEBYTECODE: "1", MYPYPATH: site, MOMENTS_STACK: stackFile, PATIENCE: String(PATIENCE / 1000) };

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
  await run(tool("mypy"), [...cache, ...["test_client.py", "test_agents.py", "typing_rules.py"].map((name) => join(tests, name))], { cwd: temporary, env });
});

test("the reference of the package is made, and has inherited methods", async () => {
  const out = join(temporary, "reference");
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  const [, options] = /`pdoc -d markdown -o docs ([^`]*)`/.exec(readme);
  await run(tool("pdoc"), ["-d", "markdown", "-o", out, ...options.split(" ")], { env });
  const page = readFileSync(join(out, "moments_client.html"), "utf8");
  for (const method of ["Publishing.publish", "Uploading.upload", "AsyncPublishing.publish"]) assert.match(page, new RegExp(`#${method}"`));
});

test("calls, sync and async", async () => {
  await run(tool("python"), ["-m", "unittest", "-v", "test_client"], { cwd: tests, env });
});

test("agents use every tool with the protocol's own client", async () => {
  await run(tool("python"), ["-m", "unittest", "-v", "test_agents"], { cwd: tests, env });
});
