// Every block of code in the guides and in the clients' READMEs, run against the running service as a reader would run it. The
// blocks of one language in a document are one program; its input is the code from the mail.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { before, test } from "node:test";
import { Moments, NO_END } from "../../clients/typescript/dist/index.js";
import { found } from "../page/patience.mjs";
import { codeFor, root, run, stack, stackFile, unusedEmail } from "./support.mjs";

const guides = readdirSync(join(root, "docs/guide")).map((name) => join(root, "docs/guide", name));
const readmes = ["typescript", "python"].map((client) => join(root, "clients", client, "README.md"));

const folder = mkdtempSync(join(tmpdir(), "moments-"));
const env = { ...process.env, PYTHONPATH: join(root, "clients/python/src"), PYTHONDONTWRITEBYTECODE: "1" };
mkdirSync(join(folder, "node_modules"));
symlinkSync(join(root, "clients/typescript"), join(folder, "node_modules/moments-client"));

/** How each language is run: the program's text becomes a command. */
const RUNNERS = {
  sh: (text) => ["bash", ["-euo", "pipefail", "-c", text]],
  js: (text, name) => {
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, text);
    return [process.execPath, [file]];
  },
  python: (text) => [join(root, "tests/clients/.venv/bin/python"), ["-c", text]],
};

// Lists of several pages.
before(async () => {
  const moments = new Moments({ baseUrl: stack.api });
  const email = unusedEmail();
  await moments.sendCode(email);
  await moments.logIn(email, await codeFor(email));
  await moments.createApiKey();
  const salesConfig = { type: "fixedPrice", pricePerToken: "0", saleStart: 0, saleEnd: NO_END };
  const tokens = [1, 2, 3, 4, 5].map((number) => ({ tokenMetadataURI: `ar://guide-${number}`, salesConfig }));
  const contract = { name: "Guide", uri: "ar://guide" };
  const { contractAddress: collection } = await moments.write("/moment/create-batch", { body: { contract, tokens } });
  await found(async () => (await moments.get("/timeline", { params: { query: { collection } } })).moments.length === tokens.length, "the timeline");
});

for (const document of [...guides, ...readmes]) {
  const blocks = [...readFileSync(document, "utf8").matchAll(/^```(\S*)\n(.*?)^```$/gms)];
  for (const language of new Set(blocks.map(([, language]) => language))) {
    const name = basename(document, ".md") === "README" ? `${basename(dirname(document))} client` : basename(document, ".md");
    const text = blocks.filter(([, other]) => other === language).map(([, , code]) => code).join("\n");
    test(`${name}: ${language}`, async () => {
      if (language === "json") return void JSON.parse(text);
      assert.ok(language in RUNNERS, `no test runs ${language || "a block without a language"}`);
      const email = unusedEmail();
      const real = text
        .replaceAll("http://127.0.0.1:3000/api", stack.api)
        // Unquoted in the shell, where the checkout's name may have a space.
        .replaceAll(".local/stack.json", language === "sh" ? `'${stackFile}'` : stackFile)
        .replaceAll("you@example.com", email);
      const asksForCode = real.includes(email) && /read -r CODE|question\(|input\(/.test(real);
      await run(...RUNNERS[language](real, name), { env, email: asksForCode ? email : undefined });
    });
  }
}

test("every guide is served, as a page and as text", async () => {
  const overview = await (await fetch(`${stack.api}/llms.txt`)).text();
  assert.ok(Buffer.byteLength(overview) <= 10_240);
  for (const file of guides) {
    const name = basename(file, ".md");
    const text = await fetch(`${stack.api}/docs/${name}.md`);
    const written = readFileSync(file, "utf8").replaceAll("http://127.0.0.1:3000/api", stack.api);
    assert.equal(await text.text(), written, `make binaries: ${name} is served as it was`);
    const page = await fetch(`${stack.api}/docs/${name}`);
    assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    assert.match(await page.text(), /<main>\s*<h1>/);
    assert.ok(overview.includes(`(docs/${name}.md)`), name);
  }
  for (const [, link] of overview.matchAll(/\]\(([^)]*)\)/g)) assert.equal((await fetch(`${stack.api}/${link}`)).status, 200, link);
});
