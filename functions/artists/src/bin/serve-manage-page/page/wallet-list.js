// The artist's wallets: connecting those of this browser, and disconnecting any.

import { $, announce, call, confirmed, day, onClick, row, when } from "./kit.js";
import { proveIfPossible } from "./proof.js";
import { accountIn, signedChallenge, walletButton, whenProvided } from "./wallets.js";

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

function walletRow({ address, type, leaves_at }) {
  const leaves = leaves_at ? ` · can leave from ${when(day, leaves_at)} on, unless you connect it again` : "";
  const element = row("wallet-row", { type: `${KINDS[type] ?? type}${leaves}`, address });
  const button = element.querySelector("button");
  button.hidden = type === "embedded";
  button.ariaLabel = `Disconnect ${address}`;
  onClick(button, $("wallet-problem"), async () => {
    const text = `${address} is no longer known as yours. Nothing changes on any chain.`;
    if (!await confirmed("Disconnect this wallet?", text, "Disconnect")) return;
    // The mailbox lets it go at once.
    const { email } = await call("GET", "artists/activity?limit=1");
    const proof = email ? undefined : await proveIfPossible("disconnectWallet", address, ["passkey", "wallet"]);
    const { wallets } = await call("DELETE", `artists/wallets?address=${address}`, proof && { proof });
    showWallets(wallets);
    const stays = wallets.some((left) => left.address === address);
    announce(stays ? "Nothing proved that it is you: disconnect it again in 7 days." : "The wallet is disconnected.");
  });
  return element;
}

whenProvided((name, provider) => {
  $("providers").append(walletButton(`Connect ${name}`, $("wallet-problem"), async () => {
    const signed = await signedChallenge(provider, "artists/wallets/challenge");
    const proof = await proveIfPossible("connectWallet", (await accountIn(provider)).toLowerCase());
    showWallets((await call("POST", "artists/wallets", { ...signed, proof })).wallets);
    announce(proof ? "The wallet is connected." : "The wallet is connected. It only signs you in: nothing proved that it is yours.");
  }));
  $("no-provider").hidden = true;
});

export const forgetWallets = () => $("wallet-list").replaceChildren();
