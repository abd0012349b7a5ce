// What compiles, and what must not.

import { Moments, type Schema } from "../../clients/typescript/dist/index.js";

const moments = new Moments({ baseUrl: "https://example.com/api" });
const moment = { collectionAddress: "0x1", tokenId: "1" };

export async function reads(): Promise<string> {
  const page = await moments.get("/timeline", { params: { query: { period: "week" } } });
  // @ts-expect-error: no such period
  await moments.get("/timeline", { params: { query: { period: "year" } } });
  // @ts-expect-error: the query is required
  await moments.get("/moment");
  // @ts-expect-error: no such path
  await moments.get("/nothing");
  // @ts-expect-error: not a GET
  await moments.get("/sale");
  for await (const payment of moments.each("/payments")) {
    const amount: string = payment.amount;
    return amount;
  }
  const sale: Schema<"Sale"> | null | undefined = page.moments[0]?.sale;
  // @ts-expect-error: it may be null
  return sale.saleEnd;
}

export async function writes(): Promise<string> {
  await moments.write("/sale", { body: { moment, saleEnd: 1 } });
  await moments.write("/sale", { body: { moment, saleEnd: "1" } });
  // @ts-expect-error: a moment is required
  await moments.write("/sale", { body: { saleEnd: 1 } });
  // @ts-expect-error: no such type of sale
  const config: Schema<"SalesConfig"> = { type: "auction", pricePerToken: "0", saleStart: 0, saleEnd: 1 };
  const contract = { address: "0x1" };
  const created = await moments.write("/moment/create", { body: { contract, token: { tokenMetadataURI: "ar://x", salesConfig: config } } });
  const sent = await moments.post("/moment/create", { body: { contract, token: { tokenMetadataURI: "ar://x", salesConfig: config } } });
  // @ts-expect-error: it may not be mined yet
  sent.tokenId;
  return created.tokenId;
}

export async function files(file: File, bytes: Uint8Array): Promise<string | undefined> {
  const uri: string = (await moments.upload(file)).uri;
  await moments.upload(bytes, { contentType: "image/png", onProgress: ({ done, size }) => done / size });
  // @ts-expect-error: no such type
  await moments.upload(bytes, { contentType: "image/tiff" });
  // @ts-expect-error: a title is required
  await moments.publish(file);
  // @ts-expect-error: a sum has a currency
  await moments.publish(file, { title: uri, price: 0.01 });
  const { collectionAddress, tokenId, page } = await moments.publish(file, { title: uri, price: "0.01 ETH", cover: bytes });
  // @ts-expect-error: it may be missing
  page.length;
  await moments.write("/moment/collect", { body: { moment: { collectionAddress, tokenId }, amount: 1 } });
  return page;
}
