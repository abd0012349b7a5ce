// Words and pictures of moments, and the currencies that their prices are in.

import { call, decimal, short } from "./kit.js";

const FOR_EVER = "18446744073709551615";

let asked;

/** Every chain by its id. Asked for once. */
export async function chains() {
  asked ??= call("GET", "chains").then(({ chains: all }) => new Map(all.map((chain) => [chain.chainId, chain])));
  try {
    return await asked;
  } catch (refusal) {
    asked = undefined;
    throw refusal;
  }
}

export const currencyOf = ({ chain_id, sale }, known) => known.get(chain_id)?.currencies.find(({ address }) => address === sale?.currency);

export const titleOf = ({ metadata, token_id }) => metadata?.name || `Token ${token_id}`;

/** A sale's price as people say it, and when it holds if that isn't now. */
export function priceOf(moment, known, now = Date.now() / 1000) {
  const { sale } = moment;
  if (!sale) return "Not for sale";
  const currency = currencyOf(moment, known);
  const price = sale.pricePerToken === "0" ? "Free" : currency ? `${decimal(sale.pricePerToken, currency.decimals)} ${currency.symbol}` : `${sale.pricePerToken} of ${short(sale.currency)}`;
  if (moment.soldOut) return `${price}, sold out`;
  if (Number(sale.saleEnd) < now) return `${price}, ended`;
  return Number(sale.saleStart) > now ? `${price}, from ${new Date(Number(sale.saleStart) * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}` : price;
}

export const isForEver = (end) => end === FOR_EVER;

const counted = (count, one) => `${count} ${one}${String(count) === "1" ? "" : "s"}`;

export function countsOf({ supply, comments, hidden }) {
  const of = BigInt(supply.max) < 2n ** 63n ? ` of ${supply.max}` : "";
  const parts = [`${supply.minted}${of} collected`, counted(comments, "comment"), ...hidden.length ? ["hidden"] : []];
  return parts.join(" · ");
}

/** Shows a moment's picture in its smallest form that is wide enough; hides `image` if there is none. */
export function pictureOf({ metadata }, image, width = 320) {
  const forms = metadata?.previews ?? [];
  const form = forms.find((one) => one.width >= width) ?? forms.at(-1);
  const isPicture = metadata?.content.mime.startsWith("image/");
  const kept = isPicture && /^ipfs:\/\/[\w./-]+$/.exec(metadata.content.uri) && `ipfs/${metadata.content.uri.slice("ipfs://".length)}`;
  const source = form?.url ?? kept;
  image.hidden = !source;
  if (!source) return image.removeAttribute("src");
  // Room for it before it is there.
  if (form) [image.width, image.height] = [form.width, form.height];
  image.src = source;
}
