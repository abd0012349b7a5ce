// What the page is made with: asking the service, forms, parts that load, and words for times and amounts. Texts reach the
// page as text, never as markup.

export const $ = (id) => document.getElementById(id);

// --- Asking the service ---------------------------------------------------------------------------------------------

/** An answer that isn't a success: what to say, and of which fields. */
export class Refusal extends Error {
  constructor(status, message, fields = [], retryAfter = 0) {
    super(message);
    Object.assign(this, { status, fields, retryAfter });
  }
}

/** Who is signed in. The token is here, and in a cookie that no script reads, by which a page goes on after a reload. */
export const nobody = () => ({ token: null, isKept: false, email: "", address: "", end: 0 });
export let session = nobody();
export const setSession = (next) => (session = next);
export const isIn = () => Boolean(session.address);

/** What a request has: by its header the service takes the cookie, and gives or takes back one. */
export const credentials = ({ token }) => ({ "moments-session": "cookie", ...(token && { authorization: `Bearer ${token}` }) });

/** What is to happen once nobody is signed in any more, for a reason that can be told. */
let onLeave = () => {};
export const whenLeft = (act) => (onLeave = act);
export const leave = (reason) => onLeave(reason);

/** What is to happen once the service wants a younger token: it gives one, or not. */
let renew = async () => false;
export const whenStale = (act) => (renew = act);

/** What is to happen once something about the account was changed. */
let onChange = () => {};
export const whenChanged = (act) => (onChange = act);

/** The query of the page after an answer's, if there is one. */
export const nextOf = (answer) => nextPages.get(answer);
const nextPages = new WeakMap();

const DEVICE = "moments_device";

/** By this the service knows the device again, whatever strangers do to the address. It opens nothing by itself. */
export function knownDevice() {
  const deviceToken = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${DEVICE}=`))?.slice(DEVICE.length + 1);
  return deviceToken ? { deviceToken } : {};
}

/** Keeps a device's token for a year, in a cookie that no other page can read. */
export function rememberDevice({ deviceToken }) {
  if (!deviceToken) return;
  document.cookie = `${DEVICE}=${deviceToken}; path=${location.pathname}; max-age=31536000; secure; samesite=strict`;
}

const SIGN_IN = ["oauth/code", "oauth/login", "oauth/link", "oauth/passkey", "oauth/passkey/challenge", "oauth/wallet", "oauth/wallet/challenge"];

/** Calls an endpoint in the name of whoever is signed in, and gives the answer's body. */
export async function call(method, path, body, extra = {}, isRenewed = false) {
  const asked = session;
  // Signing in needs no token, and a wrong code doesn't end one.
  const isSignIn = SIGN_IN.includes(path);
  const headers = { ...extra, ...credentials(isSignIn ? nobody() : asked) };
  if (body) headers["content-type"] = "application/json";
  let response, answer;
  try {
    const signal = AbortSignal.timeout(30_000);
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: "no-store", signal });
    answer = await response.json().catch(() => null);
  } catch {
    throw new Refusal(0, navigator.onLine ? "The service can't be reached: try again in a moment." : "You are offline: try again once you aren't.");
  }
  if (response.status === 401 && !isSignIn && (asked.token || asked.isKept) && asked === session) {
    if (!response.headers.get("www-authenticate")?.includes("insufficient_user_authentication")) leave("Your session has ended. Sign in again to go on.");
    // A sign-in by what was added today is never young enough.
    else if (!isRenewed) {
      if (await renew()) return call(method, path, body, extra, true);
      throw new Refusal(0, asked === session ? "Nothing was changed: it needs a new code." : "");
    }
  }
  // Whoever isn't signed in any more is told nothing of what they were answered.
  if (asked !== session) throw new Refusal(0, "");
  if (response.ok && answer) {
    nextPages.set(answer, /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1]);
    if (method !== "GET" && /^(artists\/(?!me$|proofs$)|smartwallet\/|webhooks|moment\/permission)/.test(path)) onChange();
    return answer;
  }
  const id = response.headers.get("x-request-id");
  const message = response.status < 500 && answer?.message
    ? `${answer.message}.`
    : `${answer?.message ?? "The service failed"}: try again in a moment.${id ? ` (${id})` : ""}`;
  throw new Refusal(response.status, message, answer?.errors ?? [], Number(response.headers.get("retry-after")) || 0);
}

/**
 * Calls an endpoint that writes to a chain. The same request again, after a failure that says nothing of its outcome, has
 * the same key, so that it is done once.
 */
export async function write(path, body, method = "POST") {
  const wanted = `${method} ${path} ${JSON.stringify(body)}`;
  const keys = kept(WRITES) ?? {};
  const key = keys[wanted] ??= crypto.getRandomValues(new Uint32Array(4)).join("-");
  keep(WRITES, keys);
  const settle = () => keep(WRITES, { ...kept(WRITES), [wanted]: undefined });
  try {
    const answer = await call(method, path, body, { "idempotency-key": key });
    const made = answer.transactionId ? await mined(answer.transactionId) : answer;
    settle();
    return made;
  } catch (refusal) {
    if (refusal.status >= 400 && refusal.status < 500 && ![409, 429].includes(refusal.status)) settle();
    throw refusal;
  }
}

/** Keys of writes with an unknown outcome. */
const WRITES = "moments_writes";

/** What outlives a reload of the page, in this tab alone: nothing once it is empty. */
export const kept = (name) => JSON.parse(sessionStorage.getItem(name) ?? "null");
export function keep(name, value) {
  const text = JSON.stringify(value ?? null);
  if (["null", "{}"].includes(text)) sessionStorage.removeItem(name);
  else sessionStorage.setItem(name, text);
}

async function mined(id) {
  for (let looks = 0; looks < 90; looks++) {
    await pause(2000);
    const { status, reason, result, hash, chainId } = await call("GET", `transactions/${id}`);
    if (status === "mined") return { hash, chainId, ...result };
    if (status === "cancelled") throw new Refusal(409, "It was cancelled before it was sent.");
    if (["reverted", "failed"].includes(status)) throw new Refusal(422, `${reason || "The chain refused it"}.`);
  }
  throw new Refusal(0, "The chain is slow: it is still on its way. Look again later before you repeat it.");
}

/** The account of a name or an address; a refusal at `field` if it is nobody's. */
export async function accountOf(text, field) {
  const name = text.trim().replace(/^@/, "");
  if (/^0x[0-9a-fA-F]{40}$/.test(name)) return name;
  if (/\.eth$/i.test(name)) throw wrong(field, `${name} may be somebody else’s name in ENS: give the address`);
  try {
    return (await call("GET", `artists/${encodeURIComponent(name)}`)).address;
  } catch (refusal) {
    throw [400, 404].includes(refusal.status) ? wrong(field, `${name || "this"} is nobody’s name or address`) : refusal;
  }
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// --- Forms ----------------------------------------------------------------------------------------------------------

/** Shows what is wrong with a field in place of its hint; nothing is wrong without `message`. */
export function markField(input, message) {
  const note = $(input.getAttribute("aria-describedby"));
  note.querySelector(".error")?.remove();
  note.querySelector(".hint").hidden = Boolean(message);
  input.setAttribute("aria-invalid", String(Boolean(message)));
  if (!message) return;
  input.closest("details")?.setAttribute("open", "");
  const error = document.createElement("span");
  error.className = "error";
  error.textContent = message;
  note.append(error);
}

/** Shows a refusal where it belongs: at the fields that it names, else in the form's problem, or at its only field. */
function showRefusal(form, refusal, names) {
  const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
  const named = (refusal.fields ?? []).map(({ field, message }) => [form.elements.namedItem(names[field] ?? field), sentence(message)]);
  const marks = named.filter(([input]) => input);
  const problem = form.querySelector(".problem");
  if (!marks.length && problem) problem.textContent = refusal.message;
  else if (!marks.length) marks.push([form.querySelector("input"), refusal.message]);
  for (const [input, message] of marks) markField(input, message);
  marks[0]?.[0].focus();
}

/**
 * Lets `act` handle what is sent with a form; whatever it throws is shown in the form. `names` has the inputs of fields that
 * the service calls otherwise.
 */
export function onSubmit(form, act, names = {}) {
  form.addEventListener("input", ({ target }) => target.ariaInvalid === "true" && markField(target));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.ariaBusy === "true") return;
    for (const input of form.querySelectorAll("[aria-invalid]")) markField(input);
    for (const problem of form.querySelectorAll(".problem")) problem.textContent = "";
    form.ariaBusy = "true";
    try {
      await act(form.elements);
    } catch (refusal) {
      showRefusal(form, refusal, names);
    } finally {
      form.ariaBusy = "false";
    }
  });
}

/** Lets `act` handle a button; whatever it throws is shown in `problem`. */
export function onClick(button, problem, act) {
  button.addEventListener("click", async () => {
    if (button.ariaBusy === "true" || button.ariaDisabled === "true") return;
    problem.textContent = "";
    button.ariaBusy = "true";
    try {
      await act();
    } catch (refusal) {
      problem.textContent = refusal.message;
    } finally {
      button.ariaBusy = "false";
    }
  });
}

// --- Parts ----------------------------------------------------------------------------------------------------------

/** Fills a part of the page: loading, then ready, empty or failed, as `load` turns out; it gives how much there is. */
export async function fill(part, load) {
  const element = $(part);
  const turn = (turns.get(part) ?? 0) + 1;
  turns.set(part, turn);
  element.dataset.state = "loading";
  element.querySelector(".again").replaceWith(againButton(part, load));
  let state, reason = "";
  try {
    state = (await load()) ? "ready" : "empty";
  } catch (refusal) {
    [state, reason] = ["failed", refusal.message];
  }
  if (turns.get(part) !== turn) return;
  element.dataset.state = state;
  element.querySelector(".reason").textContent = reason;
}

/** How often each part was filled: what an earlier filling comes to late, no longer counts. */
const turns = new Map();

function againButton(part, load) {
  const button = $(part).querySelector(".again").cloneNode(true);
  button.addEventListener("click", async () => {
    await fill(part, load);
    announce($(part).dataset.state === "failed" ? "It failed again." : "Loaded.");
  });
  return button;
}

/** A line of a list. */
export function item(text) {
  const element = document.createElement("li");
  element.textContent = text;
  return element;
}

/** A line of a name and its value. */
export function line(...texts) {
  const element = document.createElement("p");
  element.append(...texts.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
  return element;
}

/** A row made from a template, with these texts in its slots. */
export function row(template, slots) {
  const element = $(template).content.firstElementChild.cloneNode(true);
  for (const [name, text] of Object.entries(slots)) element.querySelector(`[data-slot=${name}]`).textContent = text;
  return element;
}

export function announce(text) {
  $("announcer").textContent = "";
  setTimeout(() => ($("announcer").textContent = text), 50);
}

/** Asks for a yes before what can't be undone. */
export function confirmed(title, text, yes, no = "Keep it") {
  const dialog = $("confirm");
  const say = (...texts) => ["title", "text", "yes", "no"].forEach((part, index) => ($(`confirm-${part}`).textContent = texts[index] ?? ""));
  say(title, text, yes, no);
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    const close = () => {
      say();
      resolve(dialog.returnValue === "yes");
    };
    dialog.addEventListener("close", close, { once: true });
  });
}

export const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
export const minute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export const when = (format, text) => format.format(new Date(text));
export const short = (address) => `${address.slice(0, 6)}…${address.slice(-4)}`;

/** A whole number of the smallest unit as a decimal number without trailing zeros. */
export function decimal(digits, places) {
  const padded = String(digits).padStart(places + 1, "0");
  const split = padded.length - places;
  return `${padded.slice(0, split)}.${padded.slice(split)}`.replace(/\.?0+$/, "");
}

/** The reverse of `decimal`: the whole number of the smallest unit, as text, or a refusal at `field`. */
export function smallest(text, places, field) {
  const [, whole, part = ""] = /^(\d{1,30})(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) throw wrong(field, "must be a number, such as 0.05");
  // A thousand to some, one to others.
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(text.trim())) {
    throw wrong(field, `can be read in two ways: write ${whole}${part}, or ${whole}.${part}0`);
  }
  if (part.length > places) throw wrong(field, `can have ${places} decimals at most`);
  return BigInt(whole + part.padEnd(places, "0")).toString();
}

export const wrong = (field, message) => new Refusal(400, "", [{ field, message }]);

/** Runs each check, and throws all that they refuse as one. */
export function all(...checks) {
  const fields = [];
  const results = checks.map((check) => {
    try {
      return check();
    } catch (refusal) {
      fields.push(...refusal.fields);
    }
  });
  if (fields.length) throw new Refusal(400, "", fields);
  return results;
}
