// The artist's wallets: connecting those of this browser, and disconnecting any.

import { $, announce, call, confirmed, onClick, row } from "./kit.js";
import { signedChallenge, walletButton, whenProvided } from "./wallets.js";

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

whenProvided((name, provider) => {
  $("providers").append(walletButton(`Connect ${name}`, $("wallet-problem"), async () => {
    showWallets((await call("POST", "artists/wallets", await signedChallenge(provider, "artists/wallets/challenge"))).wallets);
    announce("The wallet is connected.");
  }));
  $("no-provider").hidden = true;
});

export const forgetWallets = () => $("wallet-list").replaceChildren();
