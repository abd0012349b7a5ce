// One moment: its sale, who is paid, airdrops, admins, comments and collectors.

import {
  $, Refusal, accountOf, announce, call, confirmed, decimal, fill, markField, minute, nextOf, onClick, onSubmit, row, session, short, smallest,
  when, write, wrong,
} from "./kit.js";
import { NO_END, inputTime, listedIn, payeesIn, seconds, timesIn } from "./terms.js";
import { chains, countsOf, currencyOf, isForEver, pictureOf, priceOf, titleOf } from "./works.js";

const SHOWN = 20;
/** The index shows what was mined within seconds, or within minutes when it is busy: one look every half a second. */
const LOOKS = 360;

let place, moment, known, olderComments;

const ref = () => ({ chainId: Number(place[0]), collectionAddress: place[1], tokenId: place[2] });
const query = () => `collectionAddress=${place[1]}&tokenId=${place[2]}&chainId=${place[0]}`;
const network = () => `eip155:${place[0]}`;

export async function openMoment(next) {
  place = next;
  forgetTyped();
  await fill("moment", load);
  $("moment-title").focus();
}

async function load() {
  const asked = place;
  const [all, found, comments, { collectors }] = await Promise.all([
    chains(), call("GET", `moment?${query()}`), call("GET", `comments?${query()}`), call("GET", `moment/collectors?${query()}&limit=${SHOWN}`),
  ]);
  if (asked !== place) return true;
  [known, moment] = [all, found];
  showMoment();
  showComments(comments);
  $("collector-list").replaceChildren(...collectors.map(collectorRow));
  $("no-collectors").hidden = collectors.length > 0;
  await showPayees();
  return true;
}

function showMoment() {
  $("moment-title").textContent = titleOf(moment);
  $("moment-price").textContent = priceOf(moment, known);
  $("moment-counts").textContent = countsOf(moment);
  $("moment-page").href = moment.page;
  $("moment-hide").textContent = moment.hidden.length ? "Show it again" : "Hide it";
  pictureOf(moment, $("moment-picture"), 640);
  showSale();
  showList();
  $("admin-list").replaceChildren(...moment.admins.map(adminRow));
}

/** Reads the moment until the index has what was changed: until `isThere` says so. */
async function reread(isThere) {
  for (let looks = 0; looks < LOOKS; looks++) {
    const found = await call("GET", `moment?${query()}&look=${looks}`);
    if (isThere(found) || looks === LOOKS - 1) {
      moment = found;
      showMoment();
      return;
    }
    await new Promise((done) => setTimeout(done, 500));
  }
}

function done(form, words) {
  form.querySelector(".outcome").textContent = words;
  announce(words);
}

// --- Sharing and hiding ---------------------------------------------------------------------------------------------

onClick($("moment-share"), $("moment-problem"), async () => {
  if (navigator.share) return navigator.share({ title: titleOf(moment), url: moment.page }).catch(() => {});
  await navigator.clipboard.writeText(moment.page).catch(() => {
    throw new Refusal(0, "The clipboard is out of reach: open its page and copy the address there.");
  });
  $("moment-share").textContent = "Copied";
  announce("Copied.");
  setTimeout(() => ($("moment-share").textContent = "Copy the link"), 2000);
});

onClick($("moment-hide"), $("moment-problem"), async () => {
  const hidden = !moment.hidden.length;
  await call("POST", "moment/hide", { moment: ref(), hidden });
  await reread((found) => found.hidden.length > 0 === hidden);
  announce(hidden ? "It is hidden." : "It is shown again.");
});

// --- The sale -------------------------------------------------------------------------------------------------------

function showSale() {
  const { sale } = moment;
  const currency = currencyOf(moment, known);
  const isOffered = Boolean(sale && currency && ["fixedPrice", "erc20Mint"].includes(sale.type));
  $("sale-form").hidden = !isOffered;
  $("no-sale").hidden = isOffered;
  if (!isOffered) return;
  $("sale-symbol").textContent = currency.symbol;
  $("sale-price").value = decimal(sale.pricePerToken, currency.decimals);
  $("sale-start").value = sale.saleStart === "0" ? "" : inputTime(sale.saleStart);
  $("sale-end").value = isForEver(sale.saleEnd) ? "" : inputTime(sale.saleEnd);
}

onSubmit($("sale-form"), async ({ "sale-price": price, "sale-start": start, "sale-end": end }) => {
  const { sale } = moment;
  const currency = currencyOf(moment, known);
  const wanted = {
    pricePerToken: smallest(price.value, currency.decimals, "sale-price"),
    ...timesIn(start, end),
  };
  // What the form rounds to a minute, it doesn't change.
  const was = {
    pricePerToken: sale.pricePerToken,
    saleStart: sale.saleStart === "0" ? 0 : seconds(inputTime(sale.saleStart)),
    saleEnd: isForEver(sale.saleEnd) ? NO_END : seconds(inputTime(sale.saleEnd)),
  };
  const change = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => String(value) !== String(was[name])));
  if (!Object.keys(change).length) return done($("sale-form"), "Nothing to change.");
  const sum = wanted.pricePerToken === "0" ? "free" : `${decimal(wanted.pricePerToken, currency.decimals)} ${currency.symbol}`;
  if (change.pricePerToken && !await confirmed(`Sell it for ${sum}?`, `Until now it is ${priceOf(moment, known)}.`, "Change it", "Leave it")) return;
  await write("sale", { moment: ref(), ...change });
  await reread(({ sale: now }) => Object.entries(change).every(([name, value]) => now?.[name] === String(value)));
  done($("sale-form"), "Changed.");
}, { pricePerToken: "sale-price", saleStart: "sale-start", saleEnd: "sale-end" });

// --- The sale to a list ---------------------------------------------------------------------------------------------

function showList() {
  const { allowList } = moment;
  $("list-stop").hidden = !allowList;
  if (!allowList) return ($("list-state").textContent = "It is sold to no list.");
  const time = (number) => when(minute, Number(number) * 1000);
  const isToCome = Number(allowList.saleStart) * 1000 > Date.now();
  $("list-state").textContent = `It is sold to a list${isToCome ? ` from ${time(allowList.saleStart)}` : ""} until ${time(allowList.saleEnd)}.`;
}

onSubmit($("list-form"), async ({ listed, "list-price": price, "list-start": start, "list-end": end }) => {
  const entries = listedIn(listed);
  const { saleStart, saleEnd } = timesIn(start, end);
  const terms = { price: smallest(price.value || "0", 18, "list-price"), saleStart, ...(end.value && { saleEnd }) };
  const sum = terms.price === "0" ? "free" : `${decimal(terms.price, 18)} ETH`;
  if (!await confirmed(`Sell it to ${entries.length}?`, `They pay ${sum}, unless their line says otherwise. An earlier list ends.`, "Sell it to them", "Leave it")) return;
  const root = moment.allowList?.root;
  await write("moment/allow-list", { moment: ref(), entries, ...terms });
  await reread(({ allowList }) => allowList && allowList.root !== root);
  listed.value = "";
  done($("list-form"), "They can collect it.");
}, { entries: "listed", price: "list-price", saleStart: "list-start", saleEnd: "list-end" });

onClick($("list-stop"), $("list-form").querySelector(".problem"), async () => {
  if (!await confirmed("End the list’s sale?", "Nobody of the list can collect at their price any more.", "End it")) return;
  await write("moment/allow-list", { moment: ref(), entries: [] });
  await reread(({ allowList }) => !allowList);
  done($("list-form"), "It is ended.");
});

// --- Who is paid ----------------------------------------------------------------------------------------------------

async function showPayees() {
  const payee = moment.sale?.fundsRecipient;
  const split = payee && payee !== session.address ? await splitAt(payee) : null;
  const shares = split ? split.recipients.map(({ artist_address, percent_allocation }) => [artist_address, `${percent_allocation} %`]) : payee ? [[payee, "everything"]] : [];
  const rows = shares.map(([who, share]) => row("payee-row", { who: who === session.address ? "You" : who, share }));
  const waiting = split?.waiting.filter(({ amount }) => amount !== "0") ?? [];
  if (waiting.length) rows.push(waitingRow(payee, waiting));
  $("payee-list").replaceChildren(...rows);
  $("payee-form").hidden = !payee;
}

/** `undefined` if the account is no split. */
const splitAt = (account) => call("GET", `splits/${network()}/${account}`).catch((refusal) => {
  if (refusal.status !== 404) throw refusal;
});

function waitingRow(splitAddress, waiting) {
  const sums = waiting.map(({ amount, decimals, symbol }) => `${decimal(amount, decimals)} ${symbol}`).join(", ");
  const element = row("payee-row", { who: "Not paid out yet", share: sums });
  const button = element.querySelector("button");
  button.hidden = false;
  onClick(button, $("payee-form").querySelector(".problem"), async () => {
    await write("splits/distribute", { splitAddress, chainId: Number(place[0]) });
    await showPayees();
    done($("payee-form"), "Paid out.");
  });
  return element;
}

onSubmit($("payee-form"), async ({ payees }) => {
  const recipients = await payeesIn(payees);
  const words = recipients.map(({ address, percentAllocation }) => `${address}${percentAllocation ? `: ${percentAllocation} %` : ""}`).join(", ");
  if (!await confirmed("Pay them from now on?", words, "Pay them", "Leave it")) return;
  let [{ address }] = recipients;
  if (recipients.length > 1) address = (await write("splits", { chainId: Number(place[0]), splits: recipients })).splitAddress;
  await write("sale", { moment: ref(), fundsRecipient: address });
  await reread(({ sale }) => sale?.fundsRecipient === address.toLowerCase());
  await showPayees();
  payees.value = "";
  done($("payee-form"), "Changed.");
}, { splits: "payees", fundsRecipient: "payees" });

// --- Airdrop --------------------------------------------------------------------------------------------------------

onSubmit($("airdrop-form"), async ({ recipients }) => {
  const names = recipients.value.split(/[\s,]+/).filter(Boolean);
  if (!names.length) throw wrong("recipients", "name somebody");
  const whom = (name) => name.indexOf("@") > 0 ? name : accountOf(name, "recipients");
  const accounts = await Promise.all(names.map(whom));
  if (!await confirmed(`Give away ${accounts.length}?`, "They can't be taken back.", "Give them away", "Leave it")) return;
  const minted = BigInt(moment.supply.minted) + BigInt(accounts.length);
  await write("moment/airdrop", { moment: ref(), recipients: accounts });
  recipients.value = "";
  await reread(({ supply }) => BigInt(supply.minted) >= minted);
  done($("airdrop-form"), "Given away.");
}, { recipients: "recipients" });

// --- Admins ---------------------------------------------------------------------------------------------------------

function adminRow(who) {
  const element = row("admin-row", { who });
  const button = element.querySelector("button");
  button.hidden = who === session.address;
  button.ariaLabel = `Remove ${who}`;
  onClick(button, $("admin-problem"), async () => {
    if (!await confirmed("Remove this admin?", `${who} can't change it any more.`, "Remove")) return;
    await write(`moment/permission?${query()}&adminAddress=${who}`, undefined, "DELETE");
    await reread(({ admins }) => !admins.includes(who));
    announce("The admin is removed.");
    $("admin").focus();
  });
  return element;
}

onSubmit($("admin-form"), async ({ admin }) => {
  const adminAddress = await accountOf(admin.value, "admin");
  if (!await confirmed("Make an admin?", `${adminAddress} can then change it as you can, and sell it to themselves for nothing.`, "Make an admin", "Leave it")) return;
  await write("moment/permission", { moment: ref(), adminAddress });
  admin.value = "";
  await reread(({ admins }) => admins.includes(adminAddress.toLowerCase()));
  announce("The admin is added.");
}, { adminAddress: "admin" });

// --- Comments and collectors ----------------------------------------------------------------------------------------

const nameOf = (username, account) => username || short(account);

function showComments(answer) {
  $("comment-list").replaceChildren(...answer.comments.map(commentRow));
  $("no-comments").hidden = answer.comments.length > 0;
  offerOlder(answer);
}

function offerOlder(answer) {
  olderComments = nextOf(answer);
  $("comments-more").hidden = !olderComments;
}

onClick($("comments-more"), $("moment-problem"), async () => {
  const answer = await call("GET", `comments${olderComments}`);
  $("comment-list").append(...answer.comments.map(commentRow));
  offerOlder(answer);
});

function commentRow({ sender, username, comment, timestamp, commentId, replies }) {
  const element = row("comment-row", { who: nameOf(username, sender), text: comment, time: when(minute, timestamp) });
  const list = element.querySelector("[data-slot=replies]");
  list.append(...replies.map((reply) => said(nameOf(reply.username, reply.sender), reply.comment)));
  const [button, form] = [element.querySelector(":scope > button"), element.querySelector("form")];
  const input = form.querySelector("input");
  button.hidden = !commentId;
  button.ariaLabel = `Reply to ${nameOf(username, sender)}`;
  button.addEventListener("click", () => {
    form.hidden = !form.hidden;
    if (!form.hidden) input.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.ariaBusy === "true" || !input.value.trim()) return;
    [form.ariaBusy, form.querySelector(".problem").textContent] = ["true", ""];
    try {
      const text = input.value.trim();
      await write(`comments/${network()}/erc1155:${place[1]}`, { tokenId: place[2], text, replyTo: commentId });
      list.append(said("You", text));
      [input.value, form.hidden] = ["", true];
      announce("Sent.");
      button.focus();
    } catch (refusal) {
      form.querySelector(".problem").textContent = refusal.message;
    } finally {
      form.ariaBusy = "false";
    }
  });
  return element;
}

function said(who, text) {
  const item = document.createElement("li");
  item.className = "typed";
  item.textContent = `${who}: ${text}`;
  return item;
}

const WAYS = { airdrop: "was given", payment: "collected", transfer: "got" };

const collectorRow = ({ collector, username, type, amount, timestamp }) =>
  row("collector-row", { who: nameOf(username, collector), what: `${WAYS[type] ?? "got"} ${amount}`, time: when(minute, timestamp) });

// --- Leaving --------------------------------------------------------------------------------------------------------

function forgetTyped() {
  for (const form of $("moment").querySelectorAll("form")) form.reset();
  for (const text of $("moment").querySelectorAll(".outcome, .problem")) text.textContent = "";
  for (const input of $("moment").querySelectorAll("[aria-invalid]")) markField(input);
}

export function forgetMoment() {
  [place, moment, known, olderComments] = [];
  forgetTyped();
  for (const list of ["payee-list", "admin-list", "comment-list", "collector-list"]) $(list).replaceChildren();
  for (const text of ["moment-title", "moment-price", "moment-counts"]) $(text).textContent = "";
  $("moment-picture").removeAttribute("src");
  $("moment-page").removeAttribute("href");
  $("moment").hidden = true;
}
