// Money: balances, where it can go, and sending it there.

import { forgetDeposit, showDeposit } from "./deposit.js";
import { $, announce, call, confirmed, decimal, fill, line, minute, onClick, onSubmit, row, session, short, smallest, when, write, wrong } from "./kit.js";

const ETHER = "0x0000000000000000000000000000000000000000";

let currencies = [], wallets = [], payouts = [];

/** A currency's symbol; its contract's address as long as balances aren't known. */
export const symbolOf = (currency) =>
  currency === ETHER ? "ETH" : currencies.find((known) => known.currency === currency)?.symbol ?? short(currency);

export async function loadBalances() {
  const answer = await call("GET", `smartwallet?address=${session.address}`);
  currencies = answer.balances;
  showDeposit(answer);
  $("balance-list").replaceChildren(...currencies.map(({ symbol, amount, decimals }) => line(symbol, decimal(amount, decimals))));
  $("out-currency").replaceChildren(...currencies.map(({ symbol }) => new Option(symbol, symbol)));
  return true;
}

// --- Where it can go ------------------------------------------------------------------------------------------------

export async function loadPayouts() {
  const [{ addresses }, { wallets: own }] = await Promise.all([call("GET", "artists/payout-addresses"), call("GET", "artists/wallets")]);
  [payouts, wallets] = [addresses, own.filter(({ type }) => type === "external")];
  $("payout-list").replaceChildren(...payouts.map(payoutRow));
  offerRecipients();
  return payouts.length;
}

const isUsable = ({ usable_at }) => Date.parse(usable_at) <= Date.now();

function offerRecipients() {
  const own = wallets.map(({ address }) => new Option(`${short(address)} (your wallet)`, address));
  const others = payouts.filter(({ address }) => !wallets.some((wallet) => wallet.address === address));
  const usable = others.filter(isUsable).map(({ address }) => new Option(short(address), address));
  const [options, chosen] = [[...own, ...usable], $("to").value];
  $("to").replaceChildren(...options);
  if (options.some(({ value }) => value === chosen)) $("to").value = chosen;
  $("out-form").hidden = !options.length;
  $("nowhere").hidden = Boolean(options.length);
}

function payoutRow(payout) {
  const { address, usable_at } = payout;
  const state = isUsable(payout) ? "Money can go there" : `Money can go there from ${when(minute, usable_at)} on`;
  const element = row("payout-row", { address, state });
  const button = element.querySelector("button");
  button.ariaLabel = `Remove ${address}`;
  onClick(button, $("payout-problem"), async () => {
    if (!await confirmed("Remove this address?", `To send money to ${address} again, you would have to wait for a day.`, "Remove")) return;
    await call("DELETE", `artists/payout-addresses?address=${address}`);
    await fill("payouts", loadPayouts);
    $("payout-address").focus();
    announce("The address is removed.");
  });
  return element;
}

onSubmit($("payout-form"), async ({ address }) => {
  await call("POST", "artists/payout-addresses", { address: address.value.trim() });
  address.value = "";
  await fill("payouts", loadPayouts);
  announce("The address is added.");
});

// --- Sending it -----------------------------------------------------------------------------------------------------

onSubmit($("out-form"), async ({ to, amount, currency }) => {
  const { symbol, decimals } = currencies.find((known) => known.symbol === currency.value) ?? {};
  if (!symbol) throw wrong("currency", "isn't known yet: load your balances again");
  const everything = amount.value.trim().toLowerCase() === "max";
  const digits = everything ? "max" : smallest(amount.value, decimals, "amount");
  if (digits === "0") throw wrong("amount", "must be more than 0");
  const sum = everything ? `all your ${symbol}` : `${decimal(digits, decimals)} ${symbol}`;
  if (!await confirmed(`Send ${sum}?`, `It goes to ${to.value} and can't be taken back.`, "Send it", "Don't")) return;
  await write("smartwallet/withdraw", { to: to.value, amount: digits, unit: "wei", currency: symbol });
  amount.value = "";
  $("out-form").querySelector(".outcome").textContent = `Sent ${sum}.`;
  // The service keeps balances for two seconds.
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  await fill("balances", loadBalances);
});

export function forgetBalances() {
  [currencies, wallets, payouts] = [[], [], []];
  forgetDeposit();
  for (const list of ["balance-list", "payout-list", "to", "out-currency"]) $(list).replaceChildren();
}
