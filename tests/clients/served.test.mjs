// The clients that the service hands out, in empty projects that reach nothing but the service.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { found } from "../page/patience.mjs";
import { codesFor, root, run, stack, unusedEmail } from "./support.mjs";

/** One dot. */
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/** A host that nobody reaches: what a package needs must be in it. */
const NOWHERE = "http://127.0.0.1:9";

/** Waits until a page has its moment's name: its document is read some seconds after it is published. */
const isNamed = (page) => found(async () => (await (await fetch(page)).text()).includes("<title>Dot"), `name of ${page}`);

const { clients } = await (await fetch(stack.api)).json();
const named = (ending) => clients.find((url) => url.endsWith(ending));

test("a build without packages says how they are made, and others are named", async () => {
  assert.equal(clients.length, 2, "make clients before the build");
  const answer = await fetch(`${stack.api}/clients/moments.zip`);
  assert.equal(answer.status, 404);
  assert.match((await answer.json()).message, /moments-client\.tgz, moments_client-1\.0\.0-py3-none-any\.whl/);
});

test("npm installs the served package, and ten lines publish a picture", async () => {
  const project = mkdtempSync(join(tmpdir(), "moments-"));
  writeFileSync(join(project, "package.json"), '{"name": "mine", "type": "module", "private": true}');
  const options = ["--silent", "--ignore-scripts", "--registry", NOWHERE, "--cache", join(project, "cache")];
  await run("npm", ["install", ...options, named(".tgz")], { cwd: project });
  writeFileSync(
    join(project, "publish.js"),
    `import { createInterface } from "node:readline/promises";
import { Moments } from "moments-client";

const [, , baseUrl, email] = process.argv;
const moments = new Moments({ baseUrl });
await moments.sendCode(email);
const terminal = createInterface({ input: process.stdin });
await moments.logIn(email, await terminal.question(""));
terminal.close();
const { page } = await moments.publish(Buffer.from("${PICTURE}", "base64"), { title: "Dot", contentType: "image/png" });
console.log(page);
`,
  );
  const email = unusedEmail();
  const page = (await run(process.execPath, ["publish.js", stack.api, email], { cwd: project, email })).trim();
  await isNamed(page);
});

test("pip installs the served wheel, and ten lines publish a picture", async () => {
  const python = join(root, "tests/clients/.venv/bin/python");
  const project = mkdtempSync(join(tmpdir(), "moments-"));
  // What it depends on stands beside it: the index isn't asked.
  await run(python, ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", project, named(".whl")]);
  const program = `
import base64, sys
from moments_client import Moments

moments = Moments(sys.argv[1])
moments.send_code(email=sys.argv[2])
moments.log_in(email=sys.argv[2], code=input())
made = moments.publish(base64.b64decode("${PICTURE}"), title="Dot", content_type="image/png")
print(made.page)
`;
  const env = { ...process.env, PYTHONPATH: project, PYTHONDONTWRITEBYTECODE: "1" };
  const email = unusedEmail();
  const page = (await run(python, ["-c", program, stack.api, email], { cwd: project, env, email })).trim();
  await isNamed(page);
  assert.equal((await codesFor(email)).length, 1);
});
