/** The largest 64-bit number: no end of a sale, an open edition. */
export const NO_END = "18446744073709551615";

/** Decimals of ether. */
export const ETHER_DECIMALS = 18;

/** Decimals of USDC. */
export const USDC_DECIMALS = 6;

/** A decimal amount in the smallest unit: `parseAmount("0.01", 18)` is 10^16. Exact: text in, `bigint` out. */
export function parseAmount(text: string, decimals: number): bigint {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  const fraction = match?.[2]?.replace(/0+$/, "") ?? "";
  if (!match || fraction.length > decimals) {
    throw new RangeError(`${JSON.stringify(text)} is no amount with at most ${decimals} decimals`);
  }
  return BigInt(`${match[1]}${fraction.padEnd(decimals, "0")}`);
}

/** An amount in the smallest unit as a decimal one, without trailing zeros. */
export function formatAmount(amount: bigint | string, decimals: number): string {
  const digits = BigInt(amount).toString().padStart(decimals + 1, "0");
  const at = digits.length - decimals;
  const fraction = digits.slice(at).replace(/0+$/, "");
  return fraction ? `${digits.slice(0, at)}.${fraction}` : digits.slice(0, at);
}

/** When a sale ends; `undefined` if it never does, or later than a `Date` can say. */
export function saleEnd(sale: { saleEnd: string }): Date | undefined {
  const date = new Date(Number(sale.saleEnd) * 1000);
  return sale.saleEnd === NO_END || Number.isNaN(date.getTime()) ? undefined : date;
}
