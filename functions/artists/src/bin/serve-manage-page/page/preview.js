// What is about to be published, as its page will show it: the last look before it is on the chain for good.

import { $, minute, row } from "./kit.js";
import { typeOf } from "./store.js";

/** What is shown: the files, and their addresses in this page. */
let shown = [];
let addresses = new Map();

/** Shows works of `{title, file, text}`, each with the same words and terms; `still` is shown until a work plays. */
export function showPreview({ works, words, terms, still, alt }) {
  $("preview").hidden = !works.length;
  const files = [...works.map(({ file }) => file), still];
  // What plays goes on while something is typed.
  if (files.length !== shown.length || files.some((file, index) => file !== shown[index])) rebuild(works, still, files);
  for (const [index, { title, text }] of works.entries()) {
    const { children } = $("preview-list").children[index];
    [children[1].textContent, children[2].textContent] = [title || "Untitled", text ?? ""];
  }
  for (const picture of $("preview-list").querySelectorAll("img.work")) picture.alt = alt ?? "";
  $("preview-terms").textContent = terms.join(" · ");
  $("preview-words").textContent = words;
}

function rebuild(works, still, files) {
  for (const address of addresses.values()) URL.revokeObjectURL(address);
  shown = files;
  addresses = new Map(files.filter(Boolean).map((file) => [file, URL.createObjectURL(file)]));
  $("preview-list").replaceChildren(...works.map(({ file }) => {
    const element = row("preview-row", {});
    element.firstElementChild.hidden = !file;
    if (file) fillFrame(element.firstElementChild, file, still);
    return element;
  }));
}

/** The file itself. What this browser can't show is named instead. */
function fillFrame(frame, file, still) {
  const kind = typeOf(file).split("/")[0];
  const media = document.createElement({ video: "video", audio: "audio" }[kind] ?? "img");
  if (media instanceof HTMLMediaElement) media.controls = true;
  else media.className = "work";
  const cover = still && addresses.get(still);
  if (kind === "video" && cover) media.poster = cover;
  media.addEventListener("error", () => frame.replaceChildren(`${file.name} is published as it is. This browser can’t show it.`));
  media.src = addresses.get(file);
  if (kind === "audio" && cover) frame.append(Object.assign(document.createElement("img"), { alt: "", src: cover }));
  frame.append(media);
}

export const hidePreview = () => showPreview({ works: [], words: "", terms: [] });

/** Price, copies and times, as they were typed. */
export function termsOf({ price, currency, supply, opens, closes }) {
  const amount = price.value.trim();
  const copies = supply.value.trim();
  return [
    /^0*[.,]?0*$/.test(amount) ? "Free, plus the protocol’s fee" : `${amount} ${currency.selectedOptions[0].textContent}`,
    copies ? `${copies} ${copies === "1" ? "copy" : "copies"}` : "any number of copies",
    ...opens.value ? [`from ${minute.format(new Date(opens.value))}`] : [],
    ...closes.value ? [`until ${minute.format(new Date(closes.value))}`] : [],
  ];
}
