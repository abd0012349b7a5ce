// "Moments": all of an artist's work as a grid with pictures, and one of them to change.

import { $, call, fill, onClick, row, session } from "./kit.js";
import { forgetMoment, openMoment } from "./moment.js";
import { chains, countsOf, pictureOf, priceOf, titleOf } from "./works.js";

const PAGE = 24;

let last;

export async function open(place) {
  $("moment").hidden = place.length !== 3;
  $("moment-list").hidden = place.length === 3;
  await (place.length === 3 ? openMoment(place) : fill("moment-list", loadShelf));
}

async function loadShelf() {
  last = 0;
  const cards = await more();
  $("shelf").replaceChildren(...cards);
  return cards.length;
}

async function more() {
  const [known, { moments, pagination }] = await Promise.all([
    chains(),
    call("GET", `timeline?artist=${session.address}&hidden=true&limit=${PAGE}&page=${last + 1}`),
  ]);
  last += 1;
  $("shelf-more").hidden = last >= pagination.total_pages;
  return moments.map((moment) => card(moment, known));
}

function card(moment, known) {
  const element = row("shelf-row", { name: titleOf(moment), price: priceOf(moment, known), counts: countsOf(moment) });
  element.querySelector("a").href = `#moments/${moment.chain_id}/${moment.address}/${moment.token_id}`;
  element.toggleAttribute("data-hidden", moment.hidden.length > 0);
  pictureOf(moment, element.querySelector("img"));
  return element;
}

onClick($("shelf-more"), $("shelf-problem"), async () => {
  const cards = await more();
  $("shelf").append(...cards);
  cards[0]?.querySelector("a").focus();
});

export function forget() {
  $("shelf").replaceChildren();
  $("shelf-more").hidden = true;
  forgetMoment();
}
