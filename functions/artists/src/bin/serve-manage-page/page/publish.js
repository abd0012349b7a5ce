// "Publish a moment": a file goes to the bucket part by part, or a text with the request; then the moment is created.

import { $, Refusal, all, announce, call, markField, onSubmit, pause, session, short, smallest, write, wrong } from "./kit.js";

const CHAIN = 8453;
const NO_END = "18446744073709551615";
const TRIES = 4;

let chain, uploading, stored = new WeakMap();

export async function preparePublishing() {
  const asked = session;
  try {
    const [{ chains }, { collections }] = await Promise.all([
      call("GET", "chains"),
      call("GET", `collections?artist=${asked.address}&chain_id=${CHAIN}&limit=100`),
    ]);
    chain = chains.find(({ chainId }) => chainId === CHAIN) ?? chains[0];
    $("currency").replaceChildren(...chain.currencies.map(({ symbol, address }) => new Option(symbol, address)));
    for (const { address, name } of collections) offerCollection(address, name);
    const [newest] = collections;
    if (newest) $("collection").value = newest.address;
  } catch (refusal) {
    $("publish-problem").textContent = refusal.message;
  }
  showFields();
}

function offerCollection(address, name) {
  const known = [...$("collection").options].some(({ value }) => value === address);
  if (!known) $("collection").append(new Option(`${name} (${short(address)})`, address));
}

function showFields() {
  const isText = $("publish-form").elements.kind.value === "text";
  for (const part of ["file", "description"]) $(`${part}-field`).hidden = isText;
  $("text-field").hidden = !isText;
  $("collection-name-field").hidden = Boolean($("collection").value);
}
$("publish-form").addEventListener("change", showFields);

// --- Storing a file -------------------------------------------------------------------------------------------------

function showProgress(words, done, of) {
  const bar = $("progress");
  $("progress-part").hidden = false;
  if (of) [bar.max, bar.value] = [of, done];
  else bar.removeAttribute("value");
  $("progress-words").textContent = of ? `${words} ${Math.floor((100 * done) / of)} %` : words;
}

/** Sends a part; `tell` is told how much of it has arrived. */
function put(url, part, signal, tell) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    request.upload.onprogress = ({ loaded }) => tell(loaded);
    request.onloadend = () => {
      signal.removeEventListener("abort", stop);
      if (request.status >= 200 && request.status < 300) return done();
      const refused = request.status >= 400 && request.status < 500;
      fail(new Refusal(request.status, refused ? "The storage refused a part of the file: begin again." : "The connection broke: try again."));
    };
    signal.addEventListener("abort", stop);
    request.open("PUT", url);
    request.send(part);
  });
}

const stopped = () => new Refusal(0, "Stopped. Nothing was published.");

async function putPatiently(url, part, signal, tell) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await put(url, part, signal, tell);
    } catch (refusal) {
      if (signal.aborted) throw stopped();
      if (refusal.status >= 400 && refusal.status < 500 || attempt === TRIES) throw refusal;
    }
    tell(0);
    await pause(attempt * 1000);
    if (signal.aborted) throw stopped();
  }
}

/** Stores a file once, however often it is published. */
async function store(file, signal) {
  if (stored.has(file)) return stored.get(file);
  announce("Storing the file.");
  showProgress("Storing the file:", 0, file.size);
  const { uploadId, parts } = await call("POST", "uploads", { contentType: file.type || "application/octet-stream", size: file.size });
  for (const { url, offset, size } of parts) {
    await putPatiently(url, file.slice(offset, offset + size), signal, (arrived) => showProgress("Storing the file:", offset + arrived, file.size));
  }
  let media;
  while (!media?.uri) {
    if (signal.aborted) throw stopped();
    if (media) await pause(500);
    showProgress("Looking at the file:", media?.hashed ?? 0, file.size);
    try {
      media = await call("POST", `uploads/${uploadId}/complete`);
    } catch (refusal) {
      // What the service finds in a file is said at the file.
      throw refusal.status === 422 ? wrong("file", refusal.message.replace(/\.$/, "")) : refusal;
    }
  }
  stored.set(file, media);
  return media;
}

// --- Publishing -----------------------------------------------------------------------------------------------------

const required = (input, words) => input.value.trim() || (() => { throw wrong(input.id, words); })();

function read({ kind, file, title, text, price, currency, supply, collection, "collection-name": name, description }) {
  const isText = kind.value === "text";
  const { symbol, decimals, address } = chain.currencies[currency.selectedIndex];
  const [chosen, heading, words, amount, most, fresh] = all(
    () => isText ? null : file.files[0] ?? (() => { throw wrong("file", "choose one"); })(),
    () => required(title, "is required"),
    () => isText ? required(text, "is required") : description.value.trim() || undefined,
    () => smallest(price.value.trim() || "0", decimals, "price"),
    () => {
      const count = supply.value.trim();
      if (count && !/^[1-9]\d{0,18}$/.test(count)) throw wrong("supply", "must be a whole number, or nothing for any number");
      return count || undefined;
    },
    () => collection.value ? null : name.value.trim() || title.value.trim(),
  );
  const isOwn = symbol === chain.currencies[0].symbol;
  const salesConfig = { type: isOwn ? "fixedPrice" : "erc20Mint", pricePerToken: amount, saleStart: 0, saleEnd: NO_END, ...!isOwn && { currency: address } };
  return { isText, file: chosen, title: heading, words, collection: collection.value, fresh, token: { salesConfig, maxSupply: most } };
}

/** The service's names of the inputs. */
const NAMES = {
  "contract.name": "collection-name", name: "collection-name", "contract.address": "collection", contract: "collection",
  "token.metadata.name": "title", "token.metadata.description": "description",
  "token.salesConfig.pricePerToken": "price", "token.salesConfig.currency": "currency", "token.maxSupply": "supply",
  contentType: "file", size: "file",
};

onSubmit($("publish-form"), async (inputs) => {
  if (!chain) await preparePublishing();
  if (!chain) return;
  const wanted = read(inputs);
  const { signal } = uploading = new AbortController();
  try {
    const media = wanted.file && await store(wanted.file, signal);
    $("publish-stop").hidden = true;
    showProgress("Creating the moment…");
    announce("Creating the moment.");
    const contract = wanted.collection ? { address: wanted.collection } : await newCollection(wanted.fresh, media);
    const made = wanted.isText
      ? await write("moment/create/writing", { contract, title: wanted.title, text: wanted.words, token: wanted.token, chainId: chain.chainId })
      : await write("moment/create", { contract, token: { ...wanted.token, metadata: metadata(wanted, media) }, chainId: chain.chainId });
    offerCollection(made.contractAddress, wanted.fresh ?? "");
    showPublished(wanted, media, made);
  } finally {
    uploading = undefined;
    $("publish-stop").hidden = false;
    $("progress-part").hidden = true;
  }
}, NAMES);

const isPicture = ({ contentType }) => contentType.startsWith("image/");

function metadata({ title, words }, media) {
  return { name: title, description: words, ...isPicture(media) ? { image: media.uri } : { animation_url: media.uri } };
}

async function newCollection(name, media) {
  const { uri } = await call("POST", "metadata", { name, ...media && isPicture(media) && { image: media.uri } });
  return { name, uri };
}

$("publish-stop").addEventListener("click", () => uploading?.abort());

// --- What was published ---------------------------------------------------------------------------------------------

function showPublished({ title }, media, { contractAddress, tokenId, hash }) {
  $("published-name").textContent = title;
  $("published-token").textContent = `token ${tokenId} of ${short(contractAddress)}`;
  const content = media && `ipfs/${media.uri.slice("ipfs://".length)}`;
  const kind = media?.contentType.split("/")[0];
  for (const [part, is] of [["picture", "image"], ["video", "video"], ["sound", "audio"]]) {
    $(`published-${part}`).hidden = kind !== is;
    if (kind === is) $(`published-${part}`).src = content;
  }
  $("published-picture").alt = title;
  const { explorer } = chain;
  const links = {
    file: content,
    moment: `moment?collectionAddress=${contractAddress}&tokenId=${tokenId}&chainId=${chain.chainId}`,
    transaction: explorer?.transaction.replace("{hash}", hash),
  };
  for (const [part, href] of Object.entries(links)) {
    $(`published-${part}`).hidden = !href;
    if (href) $(`published-${part}`).href = href;
  }
  const form = $("publish-form");
  form.reset();
  $("collection").value = contractAddress;
  showFields();
  form.hidden = true;
  $("published").hidden = false;
  $("published-title").focus();
}

function hidePublished() {
  for (const part of ["picture", "video", "sound"]) $(`published-${part}`).removeAttribute("src");
  for (const part of ["file", "moment", "transaction"]) $(`published-${part}`).removeAttribute("href");
  for (const part of ["name", "token"]) $(`published-${part}`).textContent = "";
  $("published-picture").alt = "";
  $("published").hidden = true;
  $("publish-form").hidden = false;
}

$("published-done").addEventListener("click", () => {
  hidePublished();
  $("title").focus();
});

export function forgetPublishing() {
  uploading?.abort();
  [chain, stored] = [undefined, new WeakMap()];
  hidePublished();
  $("collection").replaceChildren(new Option("A new one", ""));
  for (const input of $("publish-form").querySelectorAll("[aria-invalid]")) markField(input);
  showFields();
}
