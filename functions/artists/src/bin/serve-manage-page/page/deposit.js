// Adding money: the account's address, codes for a wallet's camera, and what has arrived.

import { $, announce, call, decimal, pause, session } from "./kit.js";
import { chains } from "./works.js";

let known;

/** Shows where money is sent to; `answer` is the service's, with the balances. */
export function showDeposit(answer) {
  known = answer;
  const { address, chainId, onRamp } = answer;
  $("deposit-chain").textContent = `chain ${chainId}`;
  chains().then((all) => ($("deposit-chain").textContent = all.get(chainId)?.name), () => {});
  $("deposit-address").textContent = address;
  $("on-ramp").hidden = !onRamp;
  if (onRamp) $("on-ramp").href = onRamp;
}

function codeOf({ symbol, depositUri, depositCode }) {
  const [figure, link, picture, caption] = ["figure", "a", "img", "figcaption"].map((name) => document.createElement(name));
  // From the host that the page is read from, whatever its name.
  const { pathname, search } = new URL(depositCode, location.href);
  [link.href, picture.src, picture.alt] = [depositUri, pathname + search, `QR code to send ${symbol}`];
  [picture.width, picture.height] = [160, 160];
  [figure.className, caption.textContent] = ["payment", symbol];
  link.append(picture);
  figure.append(link, caption);
  return figure;
}

/** What has arrived since `before`, in words. */
const arrivals = (before, after) => after.flatMap(({ symbol, amount, decimals }) => {
  const more = BigInt(amount) - BigInt(before.find((old) => old.symbol === symbol)?.amount ?? amount);
  return more > 0n ? [`${decimal(more, decimals)} ${symbol}`] : [];
});

/** Looks for new money as long as the part is open and on the screen. */
$("deposit").addEventListener("toggle", async () => {
  const owner = session.address;
  if ($("deposit").open) $("deposit-codes").replaceChildren(...known.balances.map(codeOf));
  $("deposit-state").textContent = $("deposit").open ? "Waiting for it: you see it here within seconds." : "";
  while ($("deposit").open && session.address === owner) {
    await pause(4_000);
    if (document.hidden || !$("deposit").checkVisibility()) continue;
    const answer = await call("GET", `smartwallet?address=${owner}`).catch(() => null);
    if (!answer || session.address !== owner) continue;
    const arrived = arrivals(known.balances, answer.balances);
    if (!arrived.length) continue;
    $("deposit-state").textContent = `${arrived.join(" and ")} arrived.`;
    announce($("deposit-state").textContent);
    // The rest of it may come later.
    await whenArrived();
  }
});

let whenArrived = () => {};

/** What is done when money arrives. */
export const onArrival = (act) => (whenArrived = act);

export function forgetDeposit() {
  known = undefined;
  $("deposit").open = false;
  for (const part of ["deposit-codes", "deposit-address", "deposit-state"]) $(part).replaceChildren();
}
