// The page on which artists manage what is theirs. It talks to this service alone. Scripts have the token in memory alone;
// after a reload a cookie that they can't read goes on, for the token's hour.

import { $, Refusal, announce, call, credentials, isIn, keep, knownDevice, leave, markField, nobody, onClick, onSubmit, rememberDevice, session, setSession, whenLeft, whenStale } from "./kit.js";
import { isSupported, needsPasskey, notePasskeys, signInWithPasskey } from "./passkeys.js";
import { whenSignedBy } from "./wallets.js";

/** Parts of the page, each loaded when it is opened. */
const TABS = {
  moments: () => import("./moments.js"),
  publish: () => import("./publish.js"),
  money: () => import("./money.js"),
  programs: () => import("./programs.js"),
  account: () => import("./account.js"),
};

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

async function sendCode(email) {
  nonce = crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    await call("POST", "oauth/code", { email, nonce, ...knownDevice() });
    if (!isIn()) awaitCode({ email, nonce, until: Date.now() + CODE_SECONDS * 1000 });
    holdResend(RESEND_SECONDS);
  } catch (refusal) {
    if (refusal.status === 429) holdResend(refusal.retryAfter);
    throw refusal;
  }
}

function showStep(step) {
  for (const form of ["email-form", "code-form", "link-form", "unsubscribe-form"]) $(form).hidden = form !== step;
  $(step).querySelector("input, button").focus();
}

/** The link of a mail, until it is used. It is taken out of the address, so that no history keeps it. */
let link = "";

/** What a mail's link stops mails of news with. */
let unsubscribe = "";

function takeLink() {
  const found = new URLSearchParams(location.hash.slice(1));
  const [secret, stops] = ["link", "unsubscribe"].map((name) => found.get(name) ?? "");
  if (stops) {
    unsubscribe = stops;
    // Whoever is signed in chooses there.
    if (isIn()) return location.replace("#account");
    showStep("unsubscribe-form");
  }
  if (!secret && !stops) return;
  link = secret;
  history.replaceState(null, "", location.pathname + location.search);
  if (secret && !isIn()) showStep("link-form");
}

// A press, since programs that look through mails open links.
onSubmit($("link-form"), async () => {
  const answer = await call("POST", "oauth/link", { link });
  link = "";
  rememberDevice(answer);
  setSession({ token: answer.token, email: answer.email, address: answer.social_wallet, end: 0 });
  await enter();
});
onSubmit($("unsubscribe-form"), async () => {
  await call("POST", `mails/unsubscribe?token=${encodeURIComponent(unsubscribe)}`);
  $("unsubscribe-about").textContent = "They are stopped: no more such mails come.";
  $("unsubscribe-form").querySelector("button").hidden = true;
});
for (const button of ["link-email", "unsubscribe-choose"]) $(button).addEventListener("click", () => showStep("email-form"));
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
  // Before the answer comes, which may be after a code that was mailed meanwhile was refused.
  $("code").value = "";
  markField($("code"));
  $("code").focus();
  try {
    await sendCode($("code-email").textContent);
    announce("Another code is on its way. Only the newest one counts.");
  } catch (refusal) {
    markField($("code"), refusal.message);
  }
});

$("other-email").addEventListener("click", () => {
  awaitCode(null);
  showStep("email-form");
});

/** Until when the cookie of the last sign-in counts, if nobody signed out. */
const SIGNED_IN = "moments_session";

function endInAnHour(until = Date.now() + TOKEN_SECONDS * 1000) {
  clearTimeout(session.end);
  session.end = setTimeout(() => leave("Your hour is over. Sign in again to go on."), until - Date.now());
  localStorage.setItem(SIGNED_IN, until);
}

/** Goes on where the page was dropped, reloaded or left. */
async function resumeSession() {
  if (isIn() || Number(localStorage.getItem(SIGNED_IN) ?? 0) < Date.now()) return;
  setSession({ ...nobody(), isKept: true });
  try {
    const asked = ["me", "artists/activity?limit=1"].map((path) => call("GET", path));
    const [{ artist, expires_at: until }, { email }] = await Promise.all(asked);
    Object.assign(session, { email: email ?? "", address: artist.address });
    await enter(Date.parse(until));
  } catch {
    // Whoever wants to, signs in.
    if (!isIn()) setSession(nobody());
  }
}

async function enter(until) {
  awaitCode(null);
  endInAnHour(until);
  $("entry").hidden = true;
  for (const part of ["account", "session"]) $(part).hidden = false;
  $("self-email").textContent = session.email;
  $("self-address").textContent = session.address;
  $("self-title").textContent = "Welcome";
  $("self-title").focus();
  window.scrollTo(0, 0);
  showName();
  await showTab();
}

async function showName() {
  const asked = session;
  const { username } = await call("GET", `artists/${asked.address}`).catch(() => ({}));
  if (username && asked === session) $("self-title").textContent = username;
}

// --- Tabs -----------------------------------------------------------------------------------------------------------

/** The tabs that were opened since the sign-in. */
const opened = new Set();

/** Shows the tab that the address names, `#money`, or a place in it, `#moments/8453/0x…/1`. */
async function showTab() {
  const [name, ...place] = location.hash.slice(1).split("/");
  // The skip link's address names no tab.
  const isShown = document.querySelector(".tabs [aria-current]");
  if (!isIn() || !TABS[name] && name && isShown) return;
  const tab = TABS[name] ? name : "moments";
  // Nothing is typed or pressed in it before its script listens.
  if (isShown?.hash !== `#${tab}`) $(`tab-${tab}`).inert = true;
  for (const link of document.querySelectorAll(".tabs a")) {
    const isOpen = link.hash === `#${tab}`;
    if (isOpen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    $(`tab-${link.hash.slice(1)}`).hidden = !isOpen;
  }
  $("tab-problem").textContent = "";
  const asked = session;
  try {
    const part = await TABS[tab]();
    if (asked !== session) return;
    opened.add(part);
    const opening = part.open(place);
    $(`tab-${tab}`).inert = false;
    await opening;
  } catch {
    $("tab-problem").textContent = "This part of the page can’t be loaded: reload it.";
  }
}
addEventListener("hashchange", showTab);

/** Forgets everything that the page knows of whoever was signed in. */
function signOut(reason) {
  clearTimeout(session.end);
  setSession(nobody());
  for (const dialog of ["confirm", "again", "proof"]) $(dialog).close();
  for (const part of opened) part.forget();
  opened.clear();
  document.querySelector(".tabs [aria-current]")?.removeAttribute("aria-current");
  notePasskeys();
  for (const text of ["self-title", "self-email", "self-address", "code-email", "again-email", "proof-email"]) $(text).textContent = "";
  for (const text of document.querySelectorAll(".problem, .outcome, .reason")) text.textContent = "";
  for (const input of document.querySelectorAll("[aria-invalid]")) markField(input);
  for (const form of document.forms) form.reset();
  for (const part of ["account", "session"]) $(part).hidden = true;
  if (reason) localStorage.removeItem(SIGNED_IN);
  $("farewell").hidden = !reason;
  $("farewell").textContent = reason ?? "";
  $("entry").hidden = false;
  showStep("email-form");
}

/** Whoever signs out leaves nothing behind in this tab; whoever reloads the page goes on after signing in. */
function forgetKept() {
  for (const name of ["moments_writes", "moments_uploads", "moments_job"]) keep(name, null);
}

whenLeft(signOut);
$("sign-out").addEventListener("click", () => {
  // Whatever becomes of it, the page forgets the token at once.
  fetch("oauth/logout", { method: "POST", headers: credentials(session), keepalive: true }).catch(() => {});
  localStorage.removeItem(SIGNED_IN);
  forgetKept();
  signOut();
});
// A page that is kept for the way back must not keep the token.
addEventListener("pagehide", () => isIn() && signOut());
addEventListener("pageshow", ({ persisted }) => persisted && resumeSession());

whenSignedBy((signIn) => enterBy(signIn));

// --- A younger token -------------------------------------------------------------------------------------------

whenStale(async () => {
  const asked = session;
  const signInAgain = await needsPasskey() ? signInWithPasskey : asked.signInAgain;
  if (signInAgain) {
    const { token } = await signInAgain();
    if (asked !== session) return false;
    session.token = token;
    endInAnHour();
    return true;
  }
  if (!asked.email) {
    leave("This takes a sign-in of the last 15 minutes. Sign in again to go on.");
    return false;
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

await resumeSession();
if (!isIn()) resumeSignIn();
takeLink();
