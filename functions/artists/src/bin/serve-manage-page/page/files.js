// What the artist uploaded, newest first, and what shows it.

import { $, announce, call, confirmed, minute, nextOf, onClick, row, when } from "./kit.js";

const PAGE = 12;

let next;

export async function loadFiles() {
  next = `?limit=${PAGE}`;
  const entries = await more();
  $("file-list").replaceChildren(...entries);
  return entries.length;
}

async function more() {
  const answer = await call("GET", `uploads${next}`);
  next = nextOf(answer);
  $("older-files").hidden = !next;
  return answer.uploads.map(fileRow);
}

function use({ removed, moment, documents }) {
  if (removed) return `removed by the operator (${removed})`;
  if (moment) return `in moment ${moment.tokenId}`;
  return documents ? "in a draft" : "in nothing";
}

function fileRow(file) {
  const { uploadId, url, contentType, size, uploadedAt } = file;
  const name = `${contentType}, ${sized(size)}`;
  const element = row("file-row", { kind: name, time: when(minute, uploadedAt), use: use(file) });
  const picture = element.querySelector("img");
  picture.hidden = !contentType.startsWith("image/") || Boolean(file.removed);
  if (!picture.hidden) picture.src = url;
  const button = element.querySelector("button");
  button.hidden = Boolean(file.moment || file.removed);
  button.ariaLabel = `Delete ${name} of ${when(minute, uploadedAt)}`;
  onClick(button, $("file-problem"), async () => {
    if (!await confirmed("Delete this file?", "It is gone for good.", "Delete it")) return;
    await call("DELETE", `uploads/${uploadId}`);
    await loadFiles().then((found) => ($("files").dataset.state = found ? "ready" : "empty"));
    $("files-title").tabIndex = -1;
    $("files-title").focus();
    announce("The file is deleted.");
  });
  return element;
}

const sized = (bytes) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;

onClick($("older-files"), $("file-problem"), async () => {
  const entries = await more();
  $("file-list").append(...entries);
  if (entries.length) {
    entries[0].tabIndex = -1;
    entries[0].focus();
  }
});

export function forgetFiles() {
  next = undefined;
  $("file-list").replaceChildren();
  $("older-files").hidden = true;
}
