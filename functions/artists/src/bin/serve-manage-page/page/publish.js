// "Publish": files go to the bucket, or a text with the request; then the moments are created, several in one transaction.

import { $, Refusal, all, announce, call, keep, kept, markField, onSubmit, pause, row, session, short, smallest, write, wrong } from "./kit.js";
import { hidePreview, showPreview, termsOf } from "./preview.js";
import { store, typeOf } from "./store.js";
import { payeesIn, timesIn } from "./terms.js";
import { chains } from "./works.js";

const CHAIN = 8453;
/** In one transaction. */
const MOST = 50;
const JOB = "moments_job";
/** The index shows what was mined within seconds, or within minutes when it is busy: one look a second. */
const LOOKS = 180;

let chain, uploading;

export async function open() {
  if (chain) return;
  // What a reload left unfinished would take the place of what is typed meanwhile.
  $("publish-form").inert = true;
  await prepare();
  $("publish-form").inert = false;
}

async function prepare() {
  const asked = session;
  try {
    const [known, { collections }] = await Promise.all([
      chains(),
      call("GET", `collections?artist=${asked.address}&chain_id=${CHAIN}&limit=100`),
    ]);
    chain = known.get(CHAIN) ?? known.values().next().value;
    $("currency").replaceChildren(...chain.currencies.map(({ symbol, address }) => new Option(symbol, address)));
    for (const { address, name } of collections) offerCollection(address, name);
    const [newest] = collections;
    if (newest) $("collection").value = newest.address;
    resumeJob();
  } catch (refusal) {
    $("publish-problem").textContent = refusal.message;
  }
  showFields();
  look();
}

function offerCollection(address, name) {
  const known = [...$("collection").options].some(({ value }) => value === address);
  if (!known) $("collection").append(new Option(`${name} (${short(address)})`, address));
}

const chosen = () => [...$("file").files];
/** Whether a file shows nothing until it plays. */
const needsPoster = (file) => Boolean(file) && !typeOf(file).startsWith("image/");
const titleOf = (file) => file.name.replace(/\.\w+$/, "").replaceAll(/[_-]+/g, " ");

function showFields() {
  const isText = $("publish-form").elements.kind.value === "text";
  const isSeveral = !isText && chosen().length > 1;
  for (const part of ["file", "description"]) $(`${part}-field`).hidden = isText;
  $("text-field").hidden = !isText;
  $("title-field").hidden = isSeveral;
  $("work-list").hidden = !isSeveral;
  $("alt-field").hidden = isText || isSeveral;
  $("poster-field").hidden = isText || isSeveral || !needsPoster(chosen()[0]);
  $("collection-name-field").hidden = Boolean($("collection").value);
}
$("publish-form").addEventListener("change", showFields);

/** A name for each of several files. */
function showWorks() {
  $("work-list").replaceChildren(...chosen().map((file, index) => {
    const element = row("work-row", { file: file.name });
    const [input, note] = [element.querySelector("input"), element.querySelector(".note")];
    [input.id, note.id] = [`work-${index}`, `work-${index}-note`];
    element.querySelector("label").htmlFor = input.id;
    input.setAttribute("aria-describedby", note.id);
    [input.name, input.value] = [input.id, titleOf(file)];
    return element;
  }));
}
$("file").addEventListener("change", showWorks);

/** What is chosen and typed so far, as it will look. */
function look() {
  const inputs = $("publish-form").elements;
  const { kind, title, text, description, poster, alt } = inputs;
  const isText = kind.value === "text";
  const files = isText ? [] : chosen();
  const titles = files.length > 1 ? files.map((_, index) => $(`work-${index}`)) : [title];
  const works = isText ? [{ title: title.value, text: text.value }] : files.map((file, index) => ({ file, title: titles[index].value }));
  const still = $("poster-field").hidden ? undefined : poster.files[0];
  const isEmpty = isText && !text.value.trim();
  showPreview({ works: isEmpty ? [] : works, words: isText ? "" : description.value, terms: termsOf(inputs), still, alt: alt.value });
}
for (const kind of ["input", "change"]) $("publish-form").addEventListener(kind, look);
// What was chosen before this part was loaded.
showWorks();
showFields();
look();

// Files dropped anywhere on the form are chosen.
$("publish-form").addEventListener("dragover", (event) => event.preventDefault());
$("publish-form").addEventListener("drop", (event) => {
  event.preventDefault();
  if (!event.dataTransfer.files.length) return;
  $("file").files = event.dataTransfer.files;
  $("file").dispatchEvent(new Event("change", { bubbles: true }));
});

// --- Going on after a reload ----------------------------------------------------------------------------------------

const TYPED = ["title", "description", "price", "supply", "collection-name", "alt", "opens", "closes", "royalty", "paid"];

function keepJob(files) {
  keep(JOB, { account: session.address, names: files.map(({ name }) => name), typed: TYPED.map((name) => $(name).value), currency: $("currency").value, collection: $("collection").value });
}

/** Says what was under way when the page was left, with all that was typed. */
function resumeJob() {
  const job = kept(JOB);
  if (job?.account !== session.address) return keep(JOB, null);
  TYPED.forEach((name, index) => ($(name).value = job.typed[index]));
  [$("currency").value, $("collection").value] = [job.currency, job.collection];
  $("job-files").textContent = job.names.join(", ");
  $("job").hidden = false;
}

function endJob() {
  keep(JOB, null);
  $("job").hidden = true;
}

// --- Publishing -----------------------------------------------------------------------------------------------------

function showProgress(words, done, of) {
  const bar = $("progress");
  $("progress-part").hidden = false;
  if (of) [bar.max, bar.value] = [of, done];
  else bar.removeAttribute("value");
  $("progress-words").textContent = of ? `${words} ${Math.floor((100 * done) / of)} %` : words;
}

const required = (input, words) => input.value.trim() || (() => { throw wrong(input.id, words); })();

function read({ kind, title, text, price, currency, supply, collection, "collection-name": name, description, alt, opens, closes, royalty, poster }) {
  const isText = kind.value === "text";
  const files = isText ? [] : chosen();
  const { symbol, decimals, address } = chain.currencies[currency.selectedIndex];
  const heads = files.length > 1 ? files.map((_, index) => $(`work-${index}`)) : [title];
  const [, words, amount, most, times, royaltyBps, ...titles] = all(
    () => {
      if (!isText && !files.length) throw wrong("file", "choose one");
      if (files.length > MOST) throw wrong("file", `can be ${MOST} at most at once`);
    },
    () => isText ? required(text, "is required") : description.value.trim() || undefined,
    () => smallest(price.value.trim() || "0", decimals, "price"),
    () => {
      const count = supply.value.trim();
      if (count && !/^[1-9]\d{0,18}$/.test(count)) throw wrong("supply", "must be a whole number, or nothing for any number");
      return count || undefined;
    },
    () => timesIn(opens, closes),
    () => royalty.value.trim() ? Number(smallest(royalty.value, 2, "royalty")) : undefined,
    ...heads.map((head) => () => required(head, "is required")),
  );
  const isOwn = symbol === chain.currencies[0].symbol;
  const salesConfig = { type: isOwn ? "fixedPrice" : "erc20Mint", pricePerToken: amount, ...times, ...!isOwn && { currency: address } };
  const fresh = collection.value ? null : name.value.trim() || titles[0];
  const still = $("poster-field").hidden ? undefined : poster.files[0];
  const shows = $("alt-field").hidden ? "" : alt.value.trim();
  return { isText, files, titles, words, still, shows, collection: collection.value, fresh, token: { salesConfig, maxSupply: most, royaltyBps } };
}

/** Who is paid: nobody else, one by the sale itself, several by a split. */
async function readPaid(paid) {
  if (!paid.value.trim()) return {};
  const payees = await payeesIn(paid);
  return payees.length > 1 ? { splits: payees } : { payoutRecipient: payees[0].address };
}

/** The service's names of the inputs. */
const NAMES = {
  "contract.name": "collection-name", name: "collection-name", "contract.address": "collection", contract: "collection",
  "token.metadata.name": "title", "token.metadata.description": "description",
  "token.salesConfig.pricePerToken": "price", "token.salesConfig.currency": "currency", "token.maxSupply": "supply",
  "tokens.0.salesConfig.pricePerToken": "price", "tokens.0.salesConfig.currency": "currency", "tokens.0.maxSupply": "supply",
  "token.salesConfig.saleStart": "opens", "token.salesConfig.saleEnd": "closes", "tokens.0.salesConfig.saleEnd": "closes",
  "token.royaltyBps": "royalty", "tokens.0.royaltyBps": "royalty", "token.payoutRecipient": "paid", "tokens.0.payoutRecipient": "paid", splits: "paid", contentType: "file", size: "file",
};

onSubmit($("publish-form"), async (inputs) => {
  if (!chain) await prepare();
  if (!chain) return;
  const wanted = read(inputs);
  const { splits, payoutRecipient } = await readPaid(inputs.paid);
  Object.assign(wanted, { splits, token: { ...wanted.token, payoutRecipient } });
  const { signal } = uploading = new AbortController();
  try {
    keepJob(wanted.files);
    const medias = await storeAll(wanted.files, signal);
    wanted.image = wanted.still && (await store(wanted.still, signal, "poster", (words, done, of) => showProgress(`${words} the picture:`, done, of))).uri;
    signal.throwIfAborted();
    $("publish-stop").hidden = true;
    const what = wanted.files.length > 1 ? `${wanted.files.length} moments` : "the moment";
    showProgress(`Creating ${what}…`);
    announce(`Creating ${what}.`);
    const made = await create(wanted, medias);
    endJob();
    offerCollection(made.contractAddress, wanted.fresh ?? "");
    showPublished(wanted, medias[0], made);
  } finally {
    uploading = undefined;
    $("publish-stop").hidden = false;
    $("progress-part").hidden = true;
  }
}, NAMES);

async function storeAll(files, signal) {
  const medias = [];
  if (files.length) announce(files.length > 1 ? "Storing the files." : "Storing the file.");
  for (const [index, file] of files.entries()) {
    signal.throwIfAborted();
    const which = files.length > 1 ? `file ${index + 1} of ${files.length}` : "the file";
    showProgress(`Storing ${which}:`, 0, file.size);
    medias.push(await store(file, signal, "file", (words, done, of) => showProgress(`${words} ${which}:`, done, of)));
  }
  return medias;
}

async function create({ isText, files, titles, words, image, shows, collection, fresh, token, splits }, medias) {
  const { chainId } = chain;
  const contract = collection ? { address: collection } : await newCollection(fresh, medias[0], image);
  if (isText) return write("moment/create/writing", { contract, title: titles[0], text: words, token, splits, chainId });
  const tokens = medias.map((media, index) => ({ ...token, metadata: metadata(titles[index], words, media, { image, shows }) }));
  if (files.length === 1) return write("moment/create", { contract, token: tokens[0], splits, chainId });
  return write("moment/create-batch", { contract, tokens, splits, chainId });
}

const isPicture = ({ contentType }) => contentType.startsWith("image/");

function metadata(name, description, media, { image, shows }) {
  const files = isPicture(media) ? { image: media.uri } : { image, animation_url: media.uri };
  return { name, description, ...files, ...shows && { attributes: [{ trait_type: "Alt text", value: shows }] } };
}

async function newCollection(name, media, image) {
  const { uri } = await call("POST", "metadata", { name, image: media && isPicture(media) ? media.uri : image });
  return { name, uri };
}

const stop = () => uploading?.abort(new Refusal(0, "Stopped. Nothing was published."));

$("publish-stop").addEventListener("click", stop);

// --- What was published ---------------------------------------------------------------------------------------------

function showPublished({ titles }, media, { contractAddress, tokenId, tokenIds = [tokenId], hash }) {
  const isOne = titles.length === 1;
  $("published-name").textContent = isOne ? titles[0] : `${titles.length} moments`;
  $("published-token").textContent = isOne ? `is token ${tokenIds[0]} of ${short(contractAddress)}` : `are in ${short(contractAddress)}`;
  const content = isOne && media && `ipfs/${media.uri.slice("ipfs://".length)}`;
  const kind = content && media.contentType.split("/")[0];
  for (const [part, is] of [["picture", "image"], ["video", "video"], ["sound", "audio"]]) {
    $(`published-${part}`).hidden = kind !== is;
    if (kind === is) $(`published-${part}`).src = content;
  }
  $("published-picture").alt = titles[0];
  const { chainId, explorer } = chain;
  const links = {
    file: content,
    moment: isOne ? `#moments/${chainId}/${contractAddress}/${tokenIds[0]}` : "#moments",
    transaction: explorer?.transaction.replace("{hash}", hash),
  };
  for (const [part, href] of Object.entries(links)) setLink(part, href);
  findPage(contractAddress, tokenIds[0]);
  const form = $("publish-form");
  form.reset();
  $("collection").value = contractAddress;
  showFields();
  look();
  form.hidden = true;
  $("published").hidden = false;
  $("published-title").focus();
}

function setLink(part, href) {
  $(`published-${part}`).hidden = !href;
  if (href) $(`published-${part}`).href = href;
}

/** The page is there once the moment is indexed. */
async function findPage(collection, token) {
  setLink("page");
  for (let looks = 0; looks < LOOKS && chain; looks++) {
    await pause(1000);
    const { moments } = await call("GET", `timeline?collection=${collection}&chain_id=${chain?.chainId}&look=${looks}`).catch(() => ({ moments: [] }));
    const moment = moments.find(({ token_id }) => token_id === token);
    if (moment) return setLink("page", moment.page);
  }
}

function hidePublished() {
  for (const part of ["picture", "video", "sound"]) $(`published-${part}`).removeAttribute("src");
  for (const part of ["file", "moment", "page", "transaction"]) $(`published-${part}`).removeAttribute("href");
  for (const part of ["name", "token"]) $(`published-${part}`).textContent = "";
  $("published-picture").alt = "";
  $("published").hidden = true;
  $("publish-form").hidden = false;
}

$("published-done").addEventListener("click", () => {
  hidePublished();
  $("file").focus();
});

export function forget() {
  stop();
  chain = undefined;
  hidePublished();
  for (const list of ["work-list", "job-files"]) $(list).replaceChildren();
  $("job").hidden = true;
  $("collection").replaceChildren(new Option("A new one", ""));
  for (const input of $("publish-form").querySelectorAll("[aria-invalid]")) markField(input);
  hidePreview();
  showFields();
}
