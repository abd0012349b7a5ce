// Wallets of this browser (EIP-1193): finding them, signing in with them, and what they sign.

import { $, Refusal, call, knownDevice, onClick } from "./kit.js";

/** What is to happen once somebody wants to sign in with a wallet: it is given how. */
let onSigned = () => {};
export const whenSignedBy = (act) => (onSigned = act);

/** The wallets that were found, with their names. */
export const providers = [];
let onProvided = () => {};

/** Lets `act` handle each wallet that was found, and those that will be. */
export function whenProvided(act) {
  onProvided = act;
  for (const [name, provider] of providers) act(name, provider);
}

/** A button that signs in with a wallet. */
function offerProvider(name, provider) {
  providers.push([name, provider]);
  const signIn = async () => call("POST", "oauth/wallet", await signedChallenge(provider, "oauth/wallet/challenge", knownDevice()));
  const enter = walletButton(`Sign in with ${name}`, $("entry-problem"), () => onSigned(signIn));
  enter.className = "quiet wide";
  $("entry-wallets").append(enter);
  onProvided(name, provider);
}

export function walletButton(label, problem, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  onClick(button, problem, act);
  return button;
}

/** A message of the service, signed by the wallet. */
export async function signedChallenge(provider, path, extra = {}) {
  const address = await accountIn(provider);
  const { message } = await call("POST", path, { address: address.toLowerCase(), ...extra });
  return { message, signature: await signedBy(provider, address, message) };
}

/** The account that the wallet shows this page. */
export async function accountIn(provider) {
  const [address] = await askWallet(provider, "eth_requestAccounts", []);
  return address;
}

/** The wallet's signature of a text. */
export function signedBy(provider, address, text) {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0"));
  return askWallet(provider, "personal_sign", [`0x${bytes.join("")}`, address]);
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
