// Passkeys: signing in with one, adding and removing them (WebAuthn).

import { $, Refusal, announce, call, confirmed, day, fill, knownDevice, onSubmit, onClick, row, session, when } from "./kit.js";

/** Whether this browser can have any here. */
export const isSupported = Boolean(globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON);

let count;

/** Whether whoever is signed in has a passkey. */
export async function hasPasskey() {
  count ??= (await call("GET", "artists/passkeys")).passkeys.length;
  return count > 0;
}

/** What an authenticator answers, or a refusal in plain words. */
async function ask(act) {
  try {
    return (await act()).toJSON();
  } catch (error) {
    const known = error?.name === "InvalidStateError";
    throw new Refusal(0, known ? "This device has a passkey of yours already." : "No passkey was used. Nothing was changed.");
  }
}

export async function signInWithPasskey() {
  const { ceremony, publicKey } = await call("POST", "oauth/passkey/challenge", knownDevice());
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey);
  const credential = await ask(() => navigator.credentials.get({ publicKey: options }));
  return call("POST", "oauth/passkey", { ceremony, credential });
}

export async function loadPasskeys() {
  return showPasskeys(await call("GET", "artists/passkeys"));
}

function showPasskeys({ passkeys }) {
  count = passkeys.length;
  $("passkey-list").replaceChildren(...passkeys.map(passkeyRow));
  return count;
}

export function forgetPasskeys() {
  count = undefined;
  $("passkey-list").replaceChildren();
}

function passkeyRow({ id, name, created_at, last_used_at, removed_at }) {
  const used = last_used_at ? `last used ${when(day, last_used_at)}` : "never used";
  const ends = removed_at ? ` · removed ${when(day, removed_at)}, unless you sign in with it` : "";
  const element = row("passkey-row", { name, made: when(day, created_at), used: `${used}${ends}` });
  const button = element.querySelector("button");
  button.ariaLabel = `Remove ${name}`;
  onClick(button, $("passkey-problem"), async () => {
    const text = `“${name}” no longer signs you in. Unless you signed in with a passkey, that takes 7 days.`;
    if (!await confirmed("Remove this passkey?", text, "Remove")) return;
    await call("DELETE", `artists/passkeys?passkeyId=${id}`);
    await fill("passkeys", loadPasskeys);
    announce(`${name} is removed.`);
  });
  return element;
}

onSubmit($("passkey-form"), async ({ "passkey-name": name }) => {
  const asked = session;
  const { ceremony, publicKey } = await call("POST", "artists/passkeys/challenge");
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey);
  const credential = await ask(() => navigator.credentials.create({ publicKey: options }));
  if (asked !== session) return;
  await call("POST", "artists/passkeys", { ceremony, credential, name: name.value.trim() || undefined });
  $("passkey-form").reset();
  await fill("passkeys", loadPasskeys);
  announce("The passkey is added. Money, keys and wallets need it from now on.");
}, { name: "passkey-name" });

$("passkey-form").hidden = !isSupported;
$("no-passkeys").hidden = isSupported;
