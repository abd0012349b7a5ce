// What was collected in the last 30 days: a bar for each day, and the sums.

import { $, call, day, line, session } from "./kit.js";

const DAYS = 30, HEIGHT = 60, SECONDS = 86_400;

export async function loadStats() {
  const stats = await call("GET", `stats?artist=${session.address}&period=month`);
  $("stats-chart").replaceChildren(chart(stats));
  $("stats-list").replaceChildren(...sums(stats).map((sum) => line(...sum)));
  return stats.collected_count + stats.referral_count;
}

const money = (eth, usdc) => [[eth, "ETH"], [usdc, "USDC"]].filter(([sum]) => sum !== "0").map((sum) => sum.join(" ")).join(" and ") || "nothing";

const sums = (stats) => [
  ["Collected", stats.collected_count === 1 ? "once" : `${stats.collected_count} times`],
  ["Collectors", stats.collector_count],
  ["Earned", money(stats.eth_earned, stats.usdc_earned)],
  ...(stats.referred_count ? [["Sent by somebody", stats.referred_count]] : []),
  ...(stats.referral_count ? [["Collects of those you sent", `${stats.referral_count}, for ${money(stats.referral_eth, stats.referral_usdc)}`]] : []),
];

function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Bars of the days until today, the busiest of them as high as the chart. */
function chart({ days, collected_count }) {
  const counts = new Map(days.map(({ day: start, collected_count: count }) => [start, count]));
  const today = Math.floor(Date.now() / 1000 / SECONDS) * SECONDS;
  const starts = [...Array(DAYS).keys()].map((back) => today - (DAYS - 1 - back) * SECONDS);
  const most = Math.max(1, ...counts.values());
  const busiest = starts.findLast((start) => counts.get(start) === most);
  const label = busiest ? `${collected_count} collected in ${DAYS} days, most on ${day.format(busiest * 1000)}: ${most}` : `Nothing collected in ${DAYS} days`;
  const picture = svg("svg", { viewBox: `0 0 ${DAYS * 10} ${HEIGHT + 1}`, class: "chart", role: "img", "aria-label": label, preserveAspectRatio: "none" });
  picture.append(...starts.map((start, place) => {
    const count = counts.get(start) ?? 0;
    const height = count ? Math.max(3, (count / most) * HEIGHT) : 1;
    const bar = svg("rect", { x: place * 10 + 1, y: HEIGHT + 1 - height, width: 8, height, class: count ? "bar-of-day" : "no-bar" });
    bar.append(Object.assign(svg("title", {}), { textContent: `${day.format(start * 1000)}: ${count}` }));
    return bar;
  }));
  return picture;
}

export function forgetStats() {
  for (const part of ["stats-chart", "stats-list"]) $(part).replaceChildren();
}
