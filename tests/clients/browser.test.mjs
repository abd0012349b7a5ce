// The TypeScript client in a real browser, in a page and in a worker of it; and its README, which is run there, too.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { buildSync } from "esbuild";
import { within } from "../page/patience.mjs";
import { launch, newPage } from "../page/support.mjs";
import { codeFor, root, stack, unusedEmail } from "./support.mjs";

const client = join(root, "clients/typescript/dist/index.js");
// In place of a terminal.
const TERMINAL = { createInterface: "() => ({ question: () => globalThis.askForCode(), close() {} })" };

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** A program and all that it needs, as one script. */
function bundle(contents) {
  const text = contents.replace(/import \{ createInterface \} from "node:readline\/promises";/, `const createInterface = ${TERMINAL.createInterface};`);
  const stdin = { contents: `${text}\nglobalThis.finished();`, resolveDir: root };
  const define = { "process.stdin": "undefined", "process.stdout": "undefined" };
  const alias = { "moments-client": client };
  return buildSync({ stdin, alias, define, bundle: true, format: "esm", target: "es2022", write: false }).outputFiles[0].text;
}

/** Runs a program in a page of the service's origin, and returns what it prints. */
async function runInPage(program, email) {
  const page = await newPage(browser, { bypassCSP: true });
  const printed = [];
  page.on("console", (message) => printed.push(message.text()));
  await page.exposeFunction("askForCode", () => codeFor(email));
  const end = new Promise((resolve, reject) => {
    page.on("pageerror", reject);
    page.exposeFunction("finished", resolve);
  });
  // Slow enough that a file is seen to leave.
  const network = await page.context().newCDPSession(page);
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 2 ** 20 });
  // A page that the service sent: one that the test made up may not reach addresses of this machine.
  await page.goto(`${stack.api}/health`);
  await page.addScriptTag({ type: "module", content: program });
  await within(end, "the program's end");
  await page.context().close();
  return printed;
}

test("the readme's code runs in a page", async () => {
  const email = unusedEmail();
  const readme = readFileSync(join(root, "clients/typescript/README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  const program = blocks.join("\n").replaceAll("http://127.0.0.1:3000/api", stack.api).replaceAll("you@example.com", email);
  await runInPage(bundle(program), email);
});

test("a file of a page is uploaded and published, and the page sees it leave", async () => {
  const email = unusedEmail();
  const program = bundle(`
    import { Moments } from "moments-client";

    const moments = new Moments({ baseUrl: ${JSON.stringify(stack.api)} });
    await moments.sendCode(${JSON.stringify(email)});
    await moments.logIn(${JSON.stringify(email)}, await globalThis.askForCode());
    const canvas = Object.assign(document.createElement("canvas"), { width: 600, height: 600 });
    const context = canvas.getContext("2d");
    for (let place = 0; place < 360_000; place++) {
      context.fillStyle = "#" + Math.floor(Math.random() * 0xffffff).toString(16).padStart(6, "0");
      context.fillRect(place % 600, Math.floor(place / 600), 1, 1);
    }
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    const told = [];
    const onProgress = ({ done, size }) => told.push([done, size]);
    const file = new File([blob], "noise.png", { type: "image/png" });
    const { page, uri } = await moments.publish(file, { title: "Noise", onProgress });
    const stored = await (await fetch(\`${stack.api}/ipfs/\${uri.slice("ipfs://".length)}\`)).blob();
    console.log(JSON.stringify([page, stored.size === blob.size, told.at(-1).every((bytes) => bytes === blob.size), told]));
  `);
  const [page, isWhole, isTold, told] = JSON.parse((await runInPage(program, email)).at(-1));
  assert.ok(page && isWhole && isTold);
  assert.ok(told.length > 2, `told only before and after: ${told}`);
});

test("a worker signs in, writes, and reads pages and errors", async () => {
  const email = unusedEmail();
  const program = bundle(`
    import { InvalidInputError, Moments } from "moments-client";

    const moments = new Moments({ baseUrl: ${JSON.stringify(stack.api)} });
    await moments.sendCode(${JSON.stringify(email)});
    postMessage({ ask: true });
    const code = await new Promise((resolve) => addEventListener("message", ({ data }) => resolve(data), { once: true }));
    await moments.logIn(${JSON.stringify(email)}, code);
    await moments.createApiKey();
    const { hash } = await moments.write("/collections", { body: { name: "Tides", uri: "ar://tides" } });
    const rows = [];
    for await (const transaction of moments.each("/transactions", { params: { query: { limit: 1 } } })) rows.push(transaction.hash);
    const query = { collectionAddress: "0x1", tokenId: "1" };
    const wrong = await moments.get("/moment", { params: { query } }).catch((error) => error);
    postMessage({ answers: [hash === rows[0], rows.length, wrong instanceof InvalidInputError, wrong.fields[0].field, Boolean(wrong.requestId)] });
    globalThis.finished = () => {};
  `);
  const printed = await runInPage(
    `const url = URL.createObjectURL(new Blob([${JSON.stringify(program)}], { type: "text/javascript" }));
    const worker = new Worker(url, { type: "module" });
    worker.onerror = (event) => reportError(new Error(event.message));
    worker.onmessage = async ({ data }) => {
      if (data.ask) return worker.postMessage(await askForCode());
      console.log(JSON.stringify(data.answers));
      finished();
    };`,
    email,
  );
  assert.deepEqual(JSON.parse(printed.at(-1)), [true, 1, true, "collectionAddress", true]);
});
