// Passkeys (WebAuthn): signing in with one, and what this browser's authenticator answers.

import { Refusal, call, knownDevice } from "./kit.js";

/** Whether this browser can have any here. */
export const isSupported = Boolean(globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON);

/** Whether a passkey counts: it does a day after it was added. */
export const counts = ({ created_at }) => Date.now() - Date.parse(created_at) >= 86_400_000;

let known;

/** The passkeys of whoever is signed in, as the service has said. */
export const notePasskeys = (passkeys) => (known = passkeys);

/** Whether money and the like take a sign-in with a passkey. */
export async function needsPasskey() {
  known ??= (await call("GET", "artists/passkeys")).passkeys;
  return known.some(counts);
}

/** What an authenticator answers, or a refusal in plain words. */
export async function ask(act) {
  try {
    return (await act()).toJSON();
  } catch (error) {
    const isKnown = error?.name === "InvalidStateError";
    throw new Refusal(0, isKnown ? "This device has a passkey of yours already." : "No passkey was used. Nothing was changed.");
  }
}

/** The answer of a passkey that is there. */
export const answerOf = (publicKey) => ask(() => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) }));

export async function signInWithPasskey() {
  const { ceremony, publicKey } = await call("POST", "oauth/passkey/challenge", knownDevice());
  return call("POST", "oauth/passkey", { ceremony, credential: await answerOf(publicKey) });
}
