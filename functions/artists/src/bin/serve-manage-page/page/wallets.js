// Wallets: those of the artist, and those of this browser (EIP-1193), which sign in and are connected.

import { $, Refusal, announce, call, confirmed, knownDevice, onClick, row } from "./kit.js";

/** What is to happen once somebody wants to sign in with a wallet: it is given how. */
let onSigned = () => {};
export const whenSignedBy = (act) => (onSigned = act);

const KINDS = { embedded: "Kept by the service", external: "Your own", smart: "Your own contract" };

export function showWallets(wallets) {
  $("wallet-list").replaceChildren(...wallets.map(walletRow));
  $("wallets").dataset.state = "ready";
}

export function failWallets(refusal, again) {
  $("wallets").querySelector(".again").onclick = again;
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
  const signIn = async () => call("POST", "oauth/wallet", await signedChallenge(provider, "oauth/wallet/challenge", knownDevice()));
  const enter = walletButton(`Sign in with ${name}`, $("entry-problem"), () => onSigned(signIn));
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
async function signedChallenge(provider, path, extra = {}) {
  const [address] = await askWallet(provider, "eth_requestAccounts", []);
  const { message } = await call("POST", path, { address: address.toLowerCase(), ...extra });
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

export const forgetWallets = () => $("wallet-list").replaceChildren();
