// When something is sold and who is paid, as people type it.

import { accountOf, smallest, wrong } from "./kit.js";

export const NO_END = "18446744073709551615";

/** A time as an input has it, in the reader's own zone; the reverse of `seconds`. */
export function inputTime(time) {
  const date = new Date(Number(time) * 1000);
  return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export const seconds = (text) => Math.floor(new Date(text) / 1000);

/** Beginning and end of a sale: at once and never, unless the inputs say otherwise. */
export function timesIn(start, end) {
  const times = { saleStart: start.value ? seconds(start.value) : 0, saleEnd: end.value ? seconds(end.value) : NO_END };
  if (end.value && times.saleEnd <= times.saleStart) throw wrong(end.id, "must be later than it opens");
  return times;
}

/** Lines with a name or address each, how many they may have, and a price of their own in ether. */
export function listedIn({ id, value }) {
  const lines = value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (!lines.length) throw wrong(id, "name somebody");
  return lines.map((line) => {
    const [, account, most, price] = /^(\S+?)(?:[\s,;]+(\d+))?(?:[\s,;]+([\d.]+))?$/.exec(line) ?? [];
    if (!account) throw wrong(id, `can’t be read at “${line.slice(0, 60)}”: a name or address, how many, and a price`);
    return { account, ...(most && { maxAmount: Number(most) }), ...(price && { price: smallest(price, 18, id) }) };
  });
}

/** Lines with a name or address each, and a percent where there are several. */
export function payeesIn({ id, value }) {
  const lines = value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (!lines.length) throw wrong(id, "name somebody");
  return Promise.all(lines.map(async (line) => {
    const [, who, percent] = /^(\S+)(?:\s+([\d.]+)\s*%?)?$/.exec(line) ?? [];
    if (!who || (lines.length > 1) !== Boolean(percent)) throw wrong(id, "needs a name or address a line; of several, each with its percent");
    return { address: await accountOf(who, id), percentAllocation: percent };
  }));
}
