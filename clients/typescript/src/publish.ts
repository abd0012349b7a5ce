import type { Moments, Schema } from "./client.js";
import { saleAt } from "./price.js";
import { sleep } from "./retry.js";
import type { UploadContent, UploadOptions } from "./upload.js";

/** What a file is published as. */
export interface PublishOptions extends UploadOptions {
  /** One line. */
  title: string;
  /** Text of any length. */
  description?: string;
  /** What it shows, for people who can't see it. */
  alt?: string;
  /** What a copy costs: `0.01 ETH`, `5 USDC`, or `free`, as it is unless given. */
  price?: string;
  /** Most copies; any number unless given. */
  copies?: number | string;
  /** Address of a collection of yours; your own one unless given. */
  collection?: string;
  /** Name of a new collection, in place of `collection`. */
  newCollection?: string;
  /** The picture of a film, a sound or a model. */
  cover?: UploadContent;
  /** Royalty on resale, in hundredths of a percent. */
  royaltyBps?: number;
  /** The service's default chain unless given. */
  chainId?: number;
  /** The same one publishes once, however often it is called; a new one unless given. */
  idempotencyKey?: string;
}

/** A published moment. */
export interface Published {
  /** Its collection's contract. */
  collectionAddress: string;
  /** Its token there. */
  tokenId: string;
  /** The chain of both. */
  chainId: number;
  /** The transaction that made it. */
  hash: string;
  /** URI of the file. */
  uri: string;
  /** Its page for people; missing if it couldn't be read some seconds after it was mined. */
  page?: string;
}

/** Uploads a file, creates its moment, and waits until that is mined. */
export async function publish(moments: Moments, content: UploadContent, options: PublishOptions): Promise<Published> {
  const { title, description, alt, price = "free", copies, royaltyBps, chainId, idempotencyKey, signal } = options;
  const ending = signal && { signal };
  // What is wrong is said before anything is sent.
  if (options.collection !== undefined && options.newCollection !== undefined) {
    throw new TypeError("Give collection or newCollection, not both");
  }
  const salesConfig = await saleAt(moments, price, chainId);
  const file = await moments.upload(content, options);
  const files = file.contentType.startsWith("image/")
    ? { image: file.uri }
    : { animation_url: file.uri, ...(options.cover && { image: (await moments.upload(options.cover, { ...ending })).uri }) };
  const contract = await contractOf(moments, options, files);
  const token: Schema<"TokenWithMetadata"> = {
    metadata: {
      name: title,
      ...files,
      ...(description && { description }),
      ...(alt && { attributes: [{ trait_type: "Alt text", value: alt }] }),
    },
    salesConfig,
    ...(copies !== undefined && { maxSupply: copies }),
    ...(royaltyBps !== undefined && { royaltyBps }),
  };
  const created = await moments.write("/moment/create", {
    body: { token, ...(contract && { contract }), ...(chainId !== undefined && { chainId }) },
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
    ...ending,
  });
  const place = { collectionAddress: created.contractAddress, tokenId: created.tokenId, chainId: created.chainId };
  const page = await pageOf(moments, place, signal);
  return { ...place, hash: created.hash, uri: file.uri, ...(page && { page }) };
}

async function contractOf(
  moments: Moments,
  { collection, newCollection, signal }: PublishOptions,
  { image }: { image?: string },
): Promise<Schema<"MomentContract"> | undefined> {
  if (newCollection === undefined) return collection === undefined ? undefined : { address: collection };
  const body = { name: newCollection, ...(image && { image }) };
  const { uri } = await moments.post("/metadata", { body, ...(signal && { signal }) });
  return { name: newCollection, uri };
}

/** The moment's page, as soon as the index has it. It is published in any case, so nothing is thrown. */
async function pageOf(
  moments: Moments,
  query: { collectionAddress: string; tokenId: string; chainId: number },
  signal?: AbortSignal,
): Promise<string | undefined> {
  for (let tries = 0; tries < 20 && !signal?.aborted; tries++) {
    const moment = await moments.get("/moment", { params: { query }, ...(signal && { signal }) }).catch(() => undefined);
    if (moment) return moment.page;
    await sleep(0.5, signal).catch(() => undefined);
  }
  return undefined;
}
