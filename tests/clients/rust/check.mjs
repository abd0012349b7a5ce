// Builds the client that progenitor makes of the running service's description, and runs its calls.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { publishedSale } from "../published.mjs";
import { root, run, stack } from "../support.mjs";

test("progenitor: compiles, and calls", async () => {
  const description = join(mkdtempSync(join(tmpdir(), "moments-")), "openapi-3.0.json");
  writeFileSync(description, await (await fetch(`${stack.api}/openapi-3.0.json`)).text());
  const env = { ...process.env, ...(await publishedSale()), DESCRIPTION: description, CARGO_TARGET_DIR: join(root, "target/rust-client") };
  console.log(await run(process.env.CARGO ?? "cargo", ["run", "--quiet", "--locked"], { cwd: join(root, "tests/clients/rust"), env }));
});
