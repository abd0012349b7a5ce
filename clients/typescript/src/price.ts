import { parseAmount } from "./amounts.js";
import type { Moments, Schema } from "./client.js";

/** The sale for a price as people write it: `0.01 ETH`, `5 USDC`, or `free`. */
export async function saleAt(moments: Moments, price: string, chainId?: number): Promise<Schema<"SalesConfig">> {
  if (price.trim().toLowerCase() === "free") return {};
  const [, number, symbol] = /^\s*([\d.]+)\s+([a-z0-9]+)\s*$/i.exec(price) ?? [];
  if (!number || !symbol) {
    throw new RangeError(`price must be a sum such as 0.01 ETH or 5 USDC, or free: not ${JSON.stringify(price)}`);
  }
  const { chains, defaultChainId } = await moments.get("/chains");
  const currencies = chains.find((chain) => chain.chainId === (chainId ?? defaultChainId))?.currencies ?? [];
  const place = currencies.findIndex((currency) => currency.symbol.toUpperCase() === symbol.toUpperCase());
  const currency = currencies[place];
  if (!currency) {
    const known = currencies.map((each) => each.symbol).join(" or ") || "one that the chain has";
    throw new RangeError(`price must be in ${known}: not ${symbol}`);
  }
  const pricePerToken = String(parseAmount(number, currency.decimals));
  // The chain's own currency is the first.
  return place === 0 ? { pricePerToken } : { type: "erc20Mint", pricePerToken, currency: currency.address };
}
