// The page on which artists manage what is theirs. It talks to this service alone. The token is kept in memory alone:
// whoever signs out, leaves the page or reloads it is signed out.

import {
  $, Refusal, announce, call, confirmed, day, decimal, fill, markField, minute, nobody, onClick, onSubmit, row, session, setSession,
  short, when, whenExpired,
} from "./kit.js";

const TOKEN_SECONDS = 60 * 60;
const RESEND_SECONDS = 30;
const ETHER = "0x0000000000000000000000000000000000000000";

// --- Signing in and out ---------------------------------------------------------------------------------------------

let resendTimer;

/** Keeps the resend button from being used for so many seconds, and counts them down. */
function holdResend(seconds) {
  const button = $("resend");
  const until = Date.now() + seconds * 1000;
  clearInterval(resendTimer);
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    const wait = left >= 120 ? `${Math.ceil(left / 60)} min` : `${left} s`;
    button.ariaDisabled = String(left > 0);
    button.textContent = left > 0 ? `Another code in ${wait}` : "Send another code";
    if (left <= 0) clearInterval(resendTimer);
  };
  resendTimer = setInterval(tick, 1000);
  tick();
}

/** Binds a code to this page: nobody else's tries can use it up. */
let nonce = "";

async function sendCode(email) {
  nonce = crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    await call("POST", "oauth/code", { email, nonce });
    holdResend(RESEND_SECONDS);
  } catch (refusal) {
    if (refusal.status === 429) holdResend(refusal.retryAfter);
    throw refusal;
  }
}

function showStep(step) {
  for (const form of ["email-form", "code-form"]) $(form).hidden = form !== step;
  $(step).querySelector("input").focus();
}

onSubmit($("email-form"), async ({ email }) => {
  const address = email.value.trim();
  await sendCode(address);
  $("code-email").textContent = address;
  $("code").value = "";
  $("farewell").hidden = true;
  showStep("code-form");
});

// Whatever is pasted, the six digits in it count; once they are there, nothing more has to be pressed.
$("code").addEventListener("input", ({ target }) => {
  const typed = target.value;
  target.value = typed.match(/\d{6}/)?.[0] ?? typed.replace(/\D/g, "").slice(0, 6);
  if (target.value.length === 6) $("code-form").requestSubmit();
});

onSubmit($("code-form"), async ({ code }) => {
  const email = $("code-email").textContent;
  if (!/^\d{6}$/.test(code.value)) throw new Refusal(400, "", [{ field: "code", message: "must be 6 digits" }]);
  try {
    const { token, social_wallet } = await call("POST", "oauth/login", { email, code: code.value, nonce });
    setSession({ token, email, address: social_wallet, end: 0 });
  } catch (refusal) {
    code.select();
    throw refusal;
  }
  code.value = "";
  await enter();
});

$("resend").addEventListener("click", async () => {
  if ($("resend").ariaDisabled === "true") return;
  holdResend(RESEND_SECONDS);
  $("code").value = "";
  $("code").focus();
  try {
    await sendCode($("code-email").textContent);
    markField($("code"));
    announce("Another code is on its way. Only the newest one counts.");
  } catch (refusal) {
    markField($("code"), refusal.message);
  }
});

$("other-email").addEventListener("click", () => showStep("email-form"));

async function enter() {
  session.end = setTimeout(() => signOut("Your hour is over. Sign in again to go on."), TOKEN_SECONDS * 1000);
  $("entry").hidden = true;
  for (const part of ["account", "session"]) $(part).hidden = false;
  $("self-email").textContent = session.email;
  $("self-address").textContent = session.address;
  $("self-title").textContent = "Welcome";
  $("self-title").focus();
  window.scrollTo(0, 0);
  balances = fill("balances", loadBalances);
  await Promise.all([balances, fill("profile", loadArtist), fill("keys", loadKeys), fill("notifications", loadNotifications)]);
}

/** Forgets everything that the page knows of whoever was signed in. */
function signOut(reason) {
  clearTimeout(session.end);
  setSession(nobody());
  [shown, currencies] = [{}, []];
  $("confirm").close();
  hideNewKey();
  for (const list of ["key-list", "wallet-list", "notification-list", "balance-list"]) $(list).replaceChildren();
  for (const text of ["self-title", "self-email", "self-address", "code-email"]) $(text).textContent = "";
  for (const text of document.querySelectorAll(".problem, .outcome, .reason")) text.textContent = "";
  for (const input of document.querySelectorAll("[aria-invalid]")) markField(input);
  for (const form of document.forms) form.reset();
  for (const part of ["account", "session", "view-all"]) $(part).hidden = true;
  $("farewell").hidden = !reason;
  $("farewell").textContent = reason ?? "";
  $("entry").hidden = false;
  showStep("email-form");
}

whenExpired(() => signOut("Your session has ended. Sign in again to go on."));
$("sign-out").addEventListener("click", () => {
  // Whatever becomes of it, the page forgets the token at once.
  fetch("oauth/logout", { method: "POST", headers: { authorization: `Bearer ${session.token}` }, keepalive: true }).catch(() => {});
  signOut();
});
// A page that is kept for the way back must not keep the token.
addEventListener("pagehide", () => session.token && signOut());

// --- Profile and balances -------------------------------------------------------------------------------------------

const PROFILE = ["username", "bio", "instagram_username", "twitter_username", "telegram_username"];
let shown = {};

async function loadArtist() {
  $("wallets").dataset.state = "loading";
  $("profile-form").inert = true;
  try {
    showArtist(await call("GET", `artists/${session.address}`));
  } catch (refusal) {
    failWallets(refusal);
    throw refusal;
  }
  $("profile-form").inert = false;
  return true;
}

function showArtist(artist) {
  shown = artist;
  $("self-title").textContent = artist.username || "Welcome";
  for (const name of PROFILE) $(name).value = artist[name];
  showWallets(artist.wallets);
}

onSubmit($("profile-form"), async (inputs) => {
  const outcome = $("profile-form").querySelector(".outcome");
  const change = Object.fromEntries(PROFILE.map((name) => [name, inputs.namedItem(name).value]).filter(([name, text]) => text !== shown[name]));
  outcome.textContent = "";
  if (Object.keys(change).length) showArtist(await call("PATCH", "artists/me", change));
  outcome.textContent = Object.keys(change).length ? "Saved." : "Nothing to save.";
});

let balances, currencies = [];

async function loadBalances() {
  const answer = await call("GET", `smartwallet?address=${session.address}`);
  currencies = answer.balances;
  $("balance-list").replaceChildren(...currencies.map(({ symbol, amount, decimals }) => {
    const line = document.createElement("p");
    const [name, value] = [document.createElement("span"), document.createElement("span")];
    [name.textContent, value.textContent] = [symbol, decimal(amount, decimals)];
    line.append(name, value);
    return line;
  }));
  return true;
}

// --- Keys -----------------------------------------------------------------------------------------------------------

async function loadKeys() {
  const { keys } = await call("GET", "artists/api-keys");
  $("key-list").replaceChildren(...keys.map(keyRow));
  return keys.length;
}

function keyRow({ id, name, prefix, created_at, last_used_at }) {
  const used = last_used_at ? `last used ${when(minute, last_used_at)}` : "never used";
  const element = row("key-row", { name, prefix: `${prefix}…`, made: when(day, created_at), used });
  const button = element.querySelector("button");
  button.ariaLabel = `Revoke ${name}`;
  onClick(button, $("key-problem"), async () => {
    if (!await confirmed("Revoke this key?", `Whatever uses “${name}” stops working at once, and for good.`, "Revoke")) return;
    await call("DELETE", `artists/api-keys?keyId=${id}`);
    await fill("keys", loadKeys);
    $("name").focus();
    announce(`${name} is revoked.`);
  });
  return element;
}

onSubmit($("key-form"), async ({ name }) => {
  const { apiKey } = await call("POST", "artists/api-keys", name.value.trim() ? { name: name.value } : {});
  $("new-key-value").value = apiKey;
  $("new-key").hidden = false;
  name.value = "";
  $("new-key-title").focus();
  await fill("keys", loadKeys);
});

function hideNewKey() {
  $("new-key-value").value = "";
  $("new-key").hidden = true;
}

$("new-key-done").addEventListener("click", () => {
  hideNewKey();
  $("name").focus();
});

for (const button of document.querySelectorAll(".copy")) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    const source = $(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = "Copied";
      announce("Copied.");
      setTimeout(() => (button.textContent = label), 2000);
    } catch {
      // The clipboard may be out of reach; then the text is at least selected.
      getSelection().selectAllChildren(source);
      source.select?.();
      announce("It is selected: copy it with your keyboard.");
    }
  });
}

// --- Wallets --------------------------------------------------------------------------------------------------------

const KINDS = { embedded: "Kept by the service", external: "Your own", smart: "Your own contract" };

function showWallets(wallets) {
  $("wallet-list").replaceChildren(...wallets.map(walletRow));
  $("wallets").dataset.state = "ready";
}

function failWallets(refusal) {
  const again = $("wallets").querySelector(".again");
  again.onclick = () => fill("profile", loadArtist);
  $("wallets").dataset.state = "failed";
  $("wallets").querySelector(".reason").textContent = refusal.message;
}

function walletRow({ address, type }) {
  const element = row("wallet-row", { type: KINDS[type] ?? type, address });
  const button = element.querySelector("button");
  button.hidden = type === "embedded";
  button.ariaLabel = `Disconnect ${address}`;
  onClick(button, $("wallet-problem"), async () => {
    const text = `${address} is no longer known as yours. Nothing changes on any chain.`;
    if (!await confirmed("Disconnect this wallet?", text, "Disconnect")) return;
    showWallets((await call("DELETE", `artists/wallets?address=${address}`)).wallets);
    announce("The wallet is disconnected.");
  });
  return element;
}

/** A button that connects a wallet of this browser (EIP-1193). */
function offerProvider(name, provider) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = `Connect ${name}`;
  onClick(button, $("wallet-problem"), async () => {
    const [address] = await askWallet(provider, "eth_requestAccounts", []);
    const { message } = await call("POST", "artists/wallets/challenge", { address: address.toLowerCase() });
    const bytes = Array.from(new TextEncoder().encode(message), (byte) => byte.toString(16).padStart(2, "0"));
    const signature = await askWallet(provider, "personal_sign", [`0x${bytes.join("")}`, address]);
    showWallets((await call("POST", "artists/wallets", { message, signature })).wallets);
    announce("The wallet is connected.");
  });
  $("providers").append(button);
  $("no-provider").hidden = true;
}

async function askWallet(provider, method, params) {
  try {
    return await provider.request({ method, params });
  } catch (error) {
    // https://eips.ethereum.org/EIPS/eip-1193#provider-errors
    const declined = error?.code === 4001;
    throw new Refusal(0, declined ? "You declined in your wallet. Nothing was changed." : "Your wallet gave no answer: look into it, then try again.");
  }
}

// Wallets announce themselves (EIP-6963); one that doesn't is `window.ethereum`.
const announced = new Set();
addEventListener("eip6963:announceProvider", ({ detail: { info, provider } }) => {
  if (announced.has(info.uuid)) return;
  announced.add(info.uuid);
  offerProvider(String(info.name), provider);
});
dispatchEvent(new Event("eip6963:requestProvider"));
if (!announced.size && window.ethereum) offerProvider("this browser's wallet", window.ethereum);

// --- Notifications --------------------------------------------------------------------------------------------------

async function loadNotifications() {
  const { notifications } = await call("GET", `notifications?artist=${session.address}`);
  // Balances bring the currencies' names along; if they fail, addresses stand for them.
  await balances;
  $("notification-list").replaceChildren(...notifications.map(notificationRow));
  $("view-all").hidden = !notifications.some(({ viewed }) => !viewed);
  return notifications.length;
}

function notificationRow({ id, viewed, created_at, payment: { amount, currency, moment, buyer } }) {
  const symbol = currency === ETHER ? "ETH" : currencies.find((known) => known.currency === currency)?.symbol ?? short(currency);
  const element = row("notification-row", {
    buyer: buyer.username || short(buyer.address),
    amount: `${amount} ${symbol}`,
    token: moment.token_id,
    time: when(minute, created_at),
    collection: short(moment.collection.address),
  });
  element.toggleAttribute("data-viewed", viewed);
  const button = element.querySelector("button");
  button.hidden = viewed;
  onClick(button, $("notification-problem"), () => markViewed({ ids: [id] }));
  return element;
}

async function markViewed(which) {
  await call("PUT", "notifications", which);
  await fill("notifications", loadNotifications);
  $("notifications-title").tabIndex = -1;
  $("notifications-title").focus();
  announce("Marked as viewed.");
}

onClick($("view-all"), $("notification-problem"), () => markViewed({}));
