// What the programs of the generated clients call the service with.

import { Moments, NO_END } from "../../clients/typescript/dist/index.js";
import { found } from "../page/patience.mjs";
import { codeFor, stack, unusedEmail } from "./support.mjs";

/** An artist with a key, and a collection of three moments for sale, as variables of an environment. */
export async function publishedSale() {
  const moments = new Moments({ baseUrl: stack.api });
  const email = unusedEmail();
  await moments.sendCode(email);
  await moments.logIn(email, await codeFor(email));
  const key = await moments.createApiKey();
  const salesConfig = { type: "fixedPrice", pricePerToken: "0", saleStart: 0, saleEnd: NO_END, maxTokensPerAddress: 3 };
  const tokens = [1, 2, 3].map((number) => ({ tokenMetadataURI: `ar://tides-${number}`, salesConfig }));
  const contract = { name: "Tides", uri: "ar://tides" };
  const { contractAddress, tokenIds } = await moments.write("/moment/create-batch", { body: { contract, tokens } });
  const query = { collection: contractAddress };
  await found(async () => (await moments.get("/timeline", { params: { query } })).moments.length === tokens.length, "the timeline");
  return { API: stack.api, KEY: key, COLLECTION: contractAddress, TOKEN: tokenIds[0] };
}
