// Sends random proposal requests to a running service and compares each answer with viem's encoding. Environment: `STACK`
// is the content of `stack.json`, `COLLECTION` a collection that the governor's executor may add moments to; `SEED` and
// `COUNT` (200) choose the requests.
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { encodeFunctionData, getAddress, parseAbi, toFunctionSignature } from "viem";

const { api, rpc, contracts } = JSON.parse(process.env.STACK);
const CHAIN = 1;
const addresses = contracts[CHAIN];
const collection = process.env.COLLECTION;
const seed = Number(process.env.SEED ?? 20_261_120);
const count = Number(process.env.COUNT ?? 200);
const WORKERS = 4;

const ZERO = `0x${"0".repeat(40)}`;
const U64_MAX = 2n ** 64n - 1n;
const YEAR_2600 = 19_880_899_200n;
const ADMIN = 2n;
const MINTER = 4n;

const abi = parseAbi([
  "struct Royalty { uint32 royaltyMintSchedule; uint32 royaltyBPS; address royaltyRecipient; }",
  "struct Split { address[] recipients; uint256[] allocations; uint256 totalAllocation; uint16 distributionIncentive; }",
  "struct Timed { uint64 saleStart; uint64 marketCountdown; uint256 minimumMarketEth; string name; string symbol; }",
  "function createContractDeterministic(string uri, string name, Royalty royalty, address admin, bytes[] setupActions)",
  "function multicall(bytes[] data)",
  "function createSplitDeterministic(Split split, address owner, address creator, bytes32 salt)",
  "function isDeployed(Split split, address owner, bytes32 salt)",
  "function nextTokenId()",
  "function assumeLastTokenIdMatches(uint256 lastTokenId)",
  "function setupNewTokenWithCreateReferral(string newURI, uint256 maxSupply, address createReferral)",
  "function addPermission(uint256 tokenId, address user, uint256 permissionBits)",
  "function callSale(uint256 tokenId, address salesConfig, bytes data)",
  "function updateRoyaltiesForToken(uint256 tokenId, Royalty newConfiguration)",
  "function adminMint(address recipient, uint256 tokenId, uint256 quantity, bytes data)",
  "function setSaleV2(uint256 tokenId, Timed salesConfig)",
]);
// A separate list: viem resolves structs of one name to the first one.
const fixedAbi = parseAbi([
  "struct FixedSale { uint64 saleStart; uint64 saleEnd; uint64 maxTokensPerAddress; uint96 pricePerToken; address fundsRecipient; }",
  "function setSale(uint256 tokenId, FixedSale salesConfig)",
]);
const erc20Abi = parseAbi([
  "struct Erc20Sale { uint64 saleStart; uint64 saleEnd; uint64 maxTokensPerAddress; uint256 pricePerToken; address fundsRecipient; address currency; }",
  "function setSale(uint256 tokenId, Erc20Sale salesConfig)",
]);

console.log(`${count} random proposals, seed ${seed}`);
const next = BigInt(await call(collection, encode("nextTokenId", [])));
const requests = Array.from({ length: count }, (_, index) => randomRequest(generator(seed + index)));
const waiting = requests.entries();
await Promise.all(Array.from({ length: WORKERS }, work));
console.log("all encodings match");

async function work() {
  for (const [index, request] of waiting) {
    const [answer, wanted] = await Promise.all([ask(request), expected(request)]);
    assert.deepEqual(answer, wanted);
  }
}

/** Retries after 503: all requests count for one client, and several run at once. */
async function ask(request) {
  const [headers, body] = [{ "content-type": "application/json" }, JSON.stringify(request)];
  for (;;) {
    const response = await fetch(`${api}/governance`, { method: "POST", headers, body });
    if (response.status !== 503) return response.json();
    await setTimeout(Number(response.headers.get("retry-after")) * 1_000);
  }
}

// --- Expected answers ---------------------------------------------------------------------------------------------

async function expected(request) {
  const { account, contract, tokens, splits = [], proposal } = request;
  const actions = [];
  let split;
  if (splits.length > 0) {
    const params = splitParams(splits);
    const zero = `0x${"0".repeat(64)}`;
    split = `0x${(await call(addresses.splitFactory, encode("isDeployed", [params, ZERO, zero]))).slice(26, 66)}`;
    actions.push(action(addresses.splitFactory, "createSplitDeterministic", [params, ZERO, account, zero]));
  }
  const recipientOf = (token) => split ?? token.payoutRecipient ?? account;
  if (contract.address) {
    const calls = tokens.flatMap((token, index) =>
      tokenCalls(next + BigInt(index), token, account, recipientOf(token), "Workshop"));
    actions.push(action(contract.address, "multicall", [calls]));
  } else {
    const calls = tokens.flatMap((token, index) =>
      tokenCalls(1n + BigInt(index), token, account, recipientOf(token), contract.name));
    const setup = [encode("addPermission", [0n, account, ADMIN]), ...calls];
    const royalty = royaltyTo(recipientOf(tokens[0]));
    actions.push(
      action(addresses.factory, "createContractDeterministic", [contract.uri, contract.name, royalty, account, setup]),
    );
  }
  const column = (name) => actions.map((entry) => entry[name]);
  const description = `# ${proposal.title}\n\n${proposal.description}`;
  const args = [column("target"), actions.map(() => "0"), column("signature"), column("calldata"), description];
  return { governor: addresses.governor, args, value: "0" };
}

function action(target, name, args) {
  const signature = toFunctionSignature(abi.find((item) => item.name === name));
  return { target: target.toLowerCase(), signature, calldata: `0x${encode(name, args).slice(10)}` };
}

function tokenCalls(id, token, account, recipient, collectionName) {
  const [minter, setSale] = saleOf(id, token.salesConfig, recipient, collectionName);
  const minted = BigInt(token.mintToCreatorCount ?? 0);
  return [
    encode("assumeLastTokenIdMatches", [id - 1n]),
    encode("setupNewTokenWithCreateReferral", [
      token.tokenMetadataURI,
      BigInt(token.maxSupply ?? U64_MAX),
      token.createReferral ?? ZERO,
    ]),
    encode("addPermission", [id, account, ADMIN]),
    encode("addPermission", [id, minter, MINTER]),
    encode("callSale", [id, minter, setSale]),
    encode("updateRoyaltiesForToken", [id, royaltyTo(recipient)]),
    ...(minted > 0n ? [encode("adminMint", [account, id, minted, "0x"])] : []),
  ];
}

function saleOf(id, sale, fundsRecipient, collectionName) {
  const [saleStart, saleEnd] = [BigInt(sale.saleStart), BigInt(sale.saleEnd)];
  const [pricePerToken, maxTokensPerAddress] = [BigInt(sale.pricePerToken), BigInt(sale.maxTokensPerAddress ?? 0)];
  const terms = { saleStart, saleEnd, maxTokensPerAddress, pricePerToken, fundsRecipient };
  if (sale.type === "erc20Mint") {
    const args = [id, { ...terms, currency: sale.currency }];
    return [addresses.erc20Minter, encodeFunctionData({ abi: erc20Abi, functionName: "setSale", args })];
  }
  if (sale.type === "fixedPrice" || pricePerToken > 0n) {
    return [addresses.fixedPriceMinter, encodeFunctionData({ abi: fixedAbi, functionName: "setSale", args: [id, terms] })];
  }
  const market = { marketCountdown: 86_400n, minimumMarketEth: 12_332_100_000_000_000n };
  const named = { saleStart, ...market, name: collectionName, symbol: symbolOf(collectionName) };
  return [addresses.timedMinter, encode("setSaleV2", [id, named])];
}

function symbolOf(name) {
  const plain = [...name.replace(/[^0-9A-Za-z]/g, "").toUpperCase()];
  const consonants = plain.filter((letter) => !"AEIOU".includes(letter)).slice(0, 4);
  const letters = consonants.length > 0 ? consonants : plain.slice(0, 4);
  return `$${letters.join("") || "MMNT"}`;
}

function splitParams(splits) {
  const entries = splits.map(({ address, percentAllocation }) => {
    const [whole, decimals = ""] = String(percentAllocation).split(".");
    return [address.toLowerCase(), BigInt(whole + decimals.padEnd(4, "0"))];
  });
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  const [recipients, allocations] = [entries.map(([address]) => address), entries.map(([, share]) => share)];
  return { recipients, allocations, totalAllocation: 1_000_000n, distributionIncentive: 0 };
}

function royaltyTo(royaltyRecipient) {
  return { royaltyMintSchedule: 0, royaltyBPS: 1_000, royaltyRecipient };
}

function encode(functionName, args) {
  return encodeFunctionData({ abi, functionName, args });
}

async function call(to, data) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ to, data }, "latest"] });
  const headers = { "content-type": "application/json" };
  const { result, error } = await (await fetch(rpc[CHAIN], { method: "POST", headers, body })).json();
  if (error) throw new Error(`eth_call: ${JSON.stringify(error)}`);
  return result;
}

// --- Random requests ----------------------------------------------------------------------------------------------

function randomRequest(random) {
  const isNew = random.chance(0.6);
  const request = {
    chainId: CHAIN,
    account: random.address(),
    contract: isNew ? { name: random.name(), uri: random.uri() } : { address: collection },
    tokens: Array.from({ length: random.between(1, 4) }, () => randomToken(random)),
    proposal: { title: random.name(), description: random.text() },
  };
  if (random.chance(0.4)) request.splits = randomSplits(random);
  else if (random.chance(0.1)) request.splits = [];
  return request;
}

function randomToken(random) {
  const token = { tokenMetadataURI: random.uri(), salesConfig: randomSale(random) };
  if (random.chance(0.8)) token.createReferral = random.chance(0.3) ? ZERO : random.address();
  if (random.chance(0.3)) token.payoutRecipient = random.address();
  let most = U64_MAX;
  if (random.chance(0.4)) {
    most = 1n + random.below(random.chance(0.5) ? 100n : U64_MAX);
    token.maxSupply = random.number(most);
  }
  if (random.chance(0.7)) token.mintToCreatorCount = random.number(random.below(random.chance(0.8) && most > 9n ? 9n : most));
  return token;
}

function randomSale(random) {
  const type = random.pick(["fixedPrice", "erc20Mint", "timed", "PartnerTimedSaleStrategy"]);
  const price = {
    fixedPrice: () => random.below(2n ** BigInt(random.between(1, 96))),
    erc20Mint: () => 10_000n + random.below(2n ** BigInt(random.between(1, 255))),
    timed: () => (random.chance(0.5) ? 0n : 1n + random.below(2n ** 64n)),
    PartnerTimedSaleStrategy: () => (random.chance(0.8) ? 0n : 1n + random.below(2n ** 64n)),
  }[type]();
  const start = random.below(2n ** BigInt(random.between(1, 34)));
  const end = random.chance(0.4) ? U64_MAX : YEAR_2600 + random.below(10_000_000_000n);
  const sale = {
    type,
    pricePerToken: String(price),
    saleStart: random.number(start),
    saleEnd: random.number(end),
  };
  const isUnlimited = type !== "fixedPrice" && type !== "erc20Mint" && price === 0n;
  if (!isUnlimited && random.chance(0.4)) sale.maxTokensPerAddress = random.number(random.below(U64_MAX));
  if (type === "erc20Mint") sale.currency = random.address();
  return sale;
}

function randomSplits(random) {
  const parts = random.between(2, 6);
  const cuts = new Set();
  while (cuts.size < parts - 1) cuts.add(random.between(1, 999_999));
  const ends = [...cuts, 1_000_000].sort((one, other) => one - other);
  return ends.map((end, index) => {
    const digits = String(end - (ends[index - 1] ?? 0)).padStart(5, "0");
    const percent = `${digits.slice(0, -4)}.${digits.slice(-4)}`;
    return { address: random.address(), percentAllocation: random.chance(0.5) ? Number(percent) : percent };
  });
}

/** Random values that depend only on the seed (mulberry32). */
function generator(state) {
  const bits = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const chance = (probability) => bits() / 2 ** 32 < probability;
  const between = (least, most) => least + (bits() % (most - least + 1));
  const big = (words) => Array.from({ length: words }, bits).reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const below = (limit) => big(9) % limit;
  const pick = (list) => list[bits() % list.length];
  const from = (alphabet, length) => Array.from({ length }, () => pick(alphabet)).join("");
  const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"];
  const anything = [...letters, ...'äßéñ夜明けшум🚆👩🏽‍🎨"\\/<>#$%&{}[]()\' ,.'];
  return {
    chance,
    between,
    below,
    pick,
    /** Decimal digits, or sometimes a JSON number if it is exact. */
    number: (value) => (value <= BigInt(Number.MAX_SAFE_INTEGER) && chance(0.3) ? Number(value) : String(value)),
    address: () => {
      const plain = `0x${(big(5) + 1n).toString(16).padStart(40, "0").slice(-40)}`;
      return chance(0.3) ? getAddress(plain) : plain;
    },
    name: () => from(anything, between(1, 60)).trim() || "Ohne Titel",
    text: () => `${from(letters, 3)}${from([...anything, "\n", "\n\n- ", "\t"], between(0, 400))}`,
    uri: () => pick(["ipfs://", "ar://", "https://moments.example/"]) + from(letters, between(1, 90)),
  };
}
