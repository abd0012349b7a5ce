// "Money": balances, and who paid for which picture, newest first.

import { $, announce, call, fill, minute, onClick, row, session, short, when } from "./kit.js";
import { onArrival } from "./deposit.js";
import { forgetStats, loadStats } from "./stats.js";
import { forgetBalances, loadBalances, loadPayouts, symbolOf } from "./withdraw.js";
import { pictureOf, titleOf } from "./works.js";

/** Moments by their places: several payments are often for the same one. */
let moments = new Map();

let balances;

export async function open() {
  // A wallet may have been connected meanwhile.
  if (balances) return fill("payouts", loadPayouts);
  balances = fill("balances", loadBalances);
  await Promise.all([balances, fill("stats", loadStats), fill("payouts", loadPayouts), fill("notifications", loadNotifications)]);
}

async function loadNotifications() {
  const { notifications } = await call("GET", `notifications?artist=${session.address}`);
  // Balances bring the currencies' names along; if they fail, addresses stand for them.
  await balances;
  $("notification-list").replaceChildren(...notifications.map(notificationRow));
  $("view-all").hidden = !notifications.some(({ viewed }) => !viewed);
  return notifications.length;
}

function notificationRow({ id, viewed, created_at, payment: { amount, currency, moment, buyer } }) {
  const element = row("notification-row", {
    buyer: buyer.username || short(buyer.address),
    amount: `${amount} ${symbolOf(currency)}`,
    moment: `token ${moment.token_id}`,
    time: when(minute, created_at),
  });
  const place = `${moment.collection.chain_id}/${moment.collection.address}/${moment.token_id}`;
  element.querySelector("a").href = `#moments/${place}`;
  showWhat(element, moment, place);
  element.toggleAttribute("data-viewed", viewed);
  const button = element.querySelector("button");
  button.hidden = viewed;
  onClick(button, $("notification-problem"), () => markViewed({ ids: [id] }));
  return element;
}

/** Adds the moment's picture and name once they are known; without them the row says enough. */
async function showWhat(element, { token_id, collection }, place) {
  const query = `collectionAddress=${collection.address}&tokenId=${token_id}&chainId=${collection.chain_id}`;
  if (!moments.has(place)) moments.set(place, call("GET", `moment?${query}`).catch(() => null));
  const moment = await moments.get(place);
  if (!moment) return;
  element.querySelector("[data-slot=moment]").textContent = titleOf(moment);
  pictureOf(moment, element.querySelector("img"));
}

async function markViewed(which) {
  await call("PUT", "notifications", which);
  await fill("notifications", loadNotifications);
  $("notifications-title").tabIndex = -1;
  $("notifications-title").focus();
  announce("Marked as viewed.");
}

onClick($("view-all"), $("notification-problem"), () => markViewed({}));

onArrival(() => fill("balances", loadBalances));

export function forget() {
  [balances, moments] = [undefined, new Map()];
  forgetBalances();
  forgetStats();
  $("notification-list").replaceChildren();
  $("view-all").hidden = true;
}
