// The page on which artists manage what is theirs. It talks to this service alone. The token is kept in memory alone:
// whoever signs out, leaves the page or reloads it is signed out.

import { forgetActivity, loadActivity } from "./activity.js";
import { offerDeletion } from "./data.js";
import { hideNewKey, loadKeys } from "./keys.js";
import {
  $, Refusal, announce, call, confirmed, fill, markField, minute, nobody, onClick, onSubmit, row, session, setSession, short, when,
  whenExpired, whenStale,
} from "./kit.js";
import { forgetMoney, loadBalances, loadPayouts, showOwnWallets, symbolOf } from "./money.js";
import { forgetPasskeys, hasPasskey, isSupported, loadPasskeys, signInWithPasskey } from "./passkeys.js";
import { forgetPublishing, preparePublishing } from "./publish.js";
import { forgetWebhooks, loadWebhooks } from "./webhooks.js";

const TOKEN_SECONDS = 60 * 60;
const RESEND_SECONDS = 30;
const CODE_SECONDS = 10 * 60;
const AWAITED = "moments_sign_in";

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

/** A phone drops the page while its mail is read: what waits for the code outlives that. It is worthless without the mail. */
function awaitCode(awaited) {
  if (awaited) sessionStorage.setItem(AWAITED, JSON.stringify(awaited));
  else sessionStorage.removeItem(AWAITED);
}

/** Goes on waiting for a code that was asked for before the page was dropped. */
function resumeSignIn() {
  const { email, nonce: asked, until } = JSON.parse(sessionStorage.getItem(AWAITED) ?? "{}");
  if (!email || until < Date.now()) return awaitCode(null);
  nonce = asked;
  $("code-email").textContent = email;
  showStep("code-form");
  holdResend(0);
}

const DEVICE = "moments_device";

/** By this the service knows the device again, whatever strangers do to the address. It opens nothing by itself. */
function knownDevice() {
  const deviceToken = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${DEVICE}=`))?.slice(DEVICE.length + 1);
  return deviceToken ? { deviceToken } : {};
}

/** Keeps a device's token for a year, in a cookie that no other page can read. */
function rememberDevice({ deviceToken }) {
  if (!deviceToken) return;
  document.cookie = `${DEVICE}=${deviceToken}; path=${location.pathname}; max-age=31536000; secure; samesite=strict`;
}

async function sendCode(email) {
  nonce = crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    await call("POST", "oauth/code", { email, nonce, ...knownDevice() });
    if (!session.token) awaitCode({ email, nonce, until: Date.now() + CODE_SECONDS * 1000 });
    holdResend(RESEND_SECONDS);
  } catch (refusal) {
    if (refusal.status === 429) holdResend(refusal.retryAfter);
    throw refusal;
  }
}

function showStep(step) {
  for (const form of ["email-form", "code-form", "link-form"]) $(form).hidden = form !== step;
  $(step).querySelector("input, button").focus();
}

/** The link of a mail, until it is used. It is taken out of the address, so that no history keeps it. */
let link = "";

function takeLink() {
  const found = new URLSearchParams(location.hash.slice(1)).get("link");
  if (!found) return;
  link = found;
  history.replaceState(null, "", location.pathname + location.search);
  if (!session.token) showStep("link-form");
}

// A press, since programs that look through mails open links.
onSubmit($("link-form"), async () => {
  const answer = await call("POST", "oauth/link", { link });
  link = "";
  rememberDevice(answer);
  setSession({ token: answer.token, email: answer.email, address: answer.social_wallet, end: 0 });
  await enter();
});
$("link-email").addEventListener("click", () => showStep("email-form"));
addEventListener("hashchange", takeLink);

onSubmit($("email-form"), async ({ email }) => {
  const address = email.value.trim();
  await sendCode(address);
  $("code-email").textContent = address;
  $("code").value = "";
  $("farewell").hidden = true;
  showStep("code-form");
});

// Whatever is pasted, the six digits in it count; once they are there, nothing more has to be pressed.
for (const input of document.querySelectorAll("input.code")) {
  input.addEventListener("input", () => {
    const typed = input.value;
    input.value = typed.match(/\d{6}/)?.[0] ?? typed.replace(/\D/g, "").slice(0, 6);
    if (input.value.length === 6) input.form.requestSubmit();
  });
}

onSubmit($("code-form"), async ({ code }) => {
  const email = $("code-email").textContent;
  if (!/^\d{6}$/.test(code.value)) throw new Refusal(400, "", [{ field: "code", message: "must be 6 digits" }]);
  try {
    const answer = await call("POST", "oauth/login", { email, code: code.value, nonce, remember: true, ...knownDevice() });
    rememberDevice(answer);
    setSession({ token: answer.token, email, address: answer.social_wallet, end: 0 });
  } catch (refusal) {
    code.select();
    throw refusal;
  }
  code.value = "";
  await enter();
});

$("use-passkey").hidden = !isSupported;
onClick($("use-passkey"), $("entry-problem"), () => enterBy(signInWithPasskey));

/** Enters without a mail, and in the same way again once the service wants a younger token. */
async function enterBy(signInAgain) {
  const { token, social_wallet: address } = await signInAgain();
  setSession({ token, email: "", address, end: 0, signInAgain });
  await enter();
}

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

$("other-email").addEventListener("click", () => {
  awaitCode(null);
  showStep("email-form");
});

function endInAnHour() {
  clearTimeout(session.end);
  session.end = setTimeout(() => signOut("Your hour is over. Sign in again to go on."), TOKEN_SECONDS * 1000);
}

async function enter() {
  awaitCode(null);
  endInAnHour();
  $("entry").hidden = true;
  for (const part of ["account", "session"]) $(part).hidden = false;
  $("self-email").textContent = session.email;
  $("self-address").textContent = session.address;
  $("self-title").textContent = "Welcome";
  $("self-title").focus();
  window.scrollTo(0, 0);
  balances = fill("balances", loadBalances);
  const parts = { profile: loadArtist, keys: loadKeys, passkeys: loadPasskeys, payouts: loadPayouts, webhooks: loadWebhooks, notifications: loadNotifications, activity: loadActivity };
  await Promise.all([balances, preparePublishing(), ...Object.entries(parts).map(([part, load]) => fill(part, load))]);
}

/** Forgets everything that the page knows of whoever was signed in. */
function signOut(reason) {
  clearTimeout(session.end);
  setSession(nobody());
  shown = {};
  for (const dialog of ["confirm", "again"]) $(dialog).close();
  for (const forget of [hideNewKey, forgetMoney, forgetPasskeys, forgetPublishing, forgetActivity, forgetWebhooks]) forget();
  for (const list of ["key-list", "wallet-list", "notification-list"]) $(list).replaceChildren();
  for (const text of ["self-title", "self-email", "self-address", "code-email", "again-email"]) $(text).textContent = "";
  for (const text of document.querySelectorAll(".problem, .outcome, .reason")) text.textContent = "";
  for (const input of document.querySelectorAll("[aria-invalid]")) markField(input);
  for (const form of document.forms) form.reset();
  for (const part of ["account", "session", "view-all"]) $(part).hidden = true;
  $("farewell").hidden = !reason;
  $("farewell").textContent = reason ?? "";
  $("entry").hidden = false;
  showStep("email-form");
}

offerDeletion(signOut);
whenExpired(() => signOut("Your session has ended. Sign in again to go on."));
$("sign-out").addEventListener("click", () => {
  // Whatever becomes of it, the page forgets the token at once.
  fetch("oauth/logout", { method: "POST", headers: { authorization: `Bearer ${session.token}` }, keepalive: true }).catch(() => {});
  signOut();
});
onClick($("sign-out-everywhere"), $("activity-problem"), async () => {
  const text = "Whoever is signed in as you, here or elsewhere, has to sign in again. API keys go on working: revoke them one by one.";
  if (!await confirmed("Sign out everywhere?", text, "Sign out", "Stay")) return;
  await call("POST", "oauth/logout", { everywhere: true });
  signOut("You are signed out everywhere.");
});
// A page that is kept for the way back must not keep the token.
addEventListener("pagehide", () => session.token && signOut());

// --- A younger token -------------------------------------------------------------------------------------------

whenStale(async () => {
  const asked = session;
  const signInAgain = hasPasskey() ? signInWithPasskey : asked.signInAgain;
  if (signInAgain) {
    const { token } = await signInAgain();
    if (asked !== session) return false;
    session.token = token;
    endInAnHour();
    return true;
  }
  await sendCode(asked.email);
  const dialog = $("again");
  $("again-email").textContent = asked.email;
  $("again-code").value = "";
  markField($("again-code"));
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
  return dialog.returnValue === "yes" && asked === session;
});

onSubmit($("again-form"), async ({ code }) => {
  if (!/^\d{6}$/.test(code.value)) throw new Refusal(400, "", [{ field: "code", message: "must be 6 digits" }]);
  const { email } = session;
  try {
    const { token } = await call("POST", "oauth/login", { email, code: code.value, nonce, ...knownDevice() });
    session.token = token;
  } catch (refusal) {
    code.select();
    throw refusal;
  }
  endInAnHour();
  $("again").close("yes");
});
$("again-no").addEventListener("click", () => $("again").close("no"));

// --- Profile --------------------------------------------------------------------------------------------------------

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

// --- Copying ---------------------------------------------------------------------------------------------------------

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
  showOwnWallets(wallets);
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

/** Buttons that sign in with a wallet of this browser (EIP-1193), and connect it. */
function offerProvider(name, provider) {
  const connect = walletButton(`Connect ${name}`, $("wallet-problem"), async () => {
    showWallets((await call("POST", "artists/wallets", await signedChallenge(provider, "artists/wallets/challenge"))).wallets);
    announce("The wallet is connected.");
  });
  const signIn = async () => call("POST", "oauth/wallet", await signedChallenge(provider, "oauth/wallet/challenge"));
  const enter = walletButton(`Sign in with ${name}`, $("entry-problem"), () => enterBy(signIn));
  enter.className = "quiet wide";
  $("providers").append(connect);
  $("entry-wallets").append(enter);
  $("no-provider").hidden = true;
}

function walletButton(label, problem, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  onClick(button, problem, act);
  return button;
}

/** A message of the service, signed by the wallet. */
async function signedChallenge(provider, path) {
  const [address] = await askWallet(provider, "eth_requestAccounts", []);
  const { message } = await call("POST", path, { address: address.toLowerCase() });
  const bytes = Array.from(new TextEncoder().encode(message), (byte) => byte.toString(16).padStart(2, "0"));
  const signature = await askWallet(provider, "personal_sign", [`0x${bytes.join("")}`, address]);
  return { message, signature };
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

let balances;

async function loadNotifications() {
  const { notifications } = await call("GET", `notifications?artist=${session.address}`);
  // Balances bring the currencies' names along; if they fail, addresses stand for them.
  await balances;
  $("notification-list").replaceChildren(...notifications.map(notificationRow));
  $("view-all").hidden = !notifications.some(({ viewed }) => !viewed);
  return notifications.length;
}

function notificationRow({ id, viewed, created_at, payment: { amount, currency, moment, buyer } }) {
  const element = row("notification-row", {
    buyer: buyer.username || short(buyer.address),
    amount: `${amount} ${symbolOf(currency)}`,
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
resumeSignIn();
takeLink();
