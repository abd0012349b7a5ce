// Three kinds of wallets collect and create with the calls that the service prepares: a key, a Safe, and a wallet that takes
// batches (EIP-5792). What they did, lists show as they show a collect through the service. Then calls that somebody altered.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { before, test } from "node:test";
import { Moments, NO_END } from "../../clients/typescript/dist/index.js";
import { PATIENCE, until } from "../page/patience.mjs";
import { askNode, codeFor, root, stack, unusedEmail } from "./support.mjs";

const require = createRequire(`${root}local/package.json`);
const viem = require("viem");
const { generatePrivateKey, privateKeyToAccount } = require("viem/accounts");
const { eip5792Actions } = require("viem/experimental");

const FEE = 111_000_000_000_000n;
const PRICE = 1_000n;
const DOLLARS = 1_500_000n;
/** Where Safe 1.4.1 is on every chain: its factory, singleton, library for batches, and what lets it get tokens. */
const [FACTORY, SINGLETON, BATCHES, HANDLER] = [
  "0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67",
  "0x29fcB43b46531BcA003ddC8FCB67FFE91900C762",
  "0x9641d764fc13c8B624c04430C7356C1C7C8102e2",
  "0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99",
];
const { usdc, erc20Minter } = stack.contracts["8453"];
const transport = viem.http(stack.rpc["8453"]);
const chain = viem.defineChain({
  id: 8453,
  name: "Local",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [stack.rpc["8453"]] } },
});
const node = viem.createPublicClient({ chain, transport, pollingInterval: 100 });

const safe = viem.parseAbi([
  "function createProxyWithNonce(address singleton, bytes initializer, uint256 salt) returns (address proxy)",
  "event ProxyCreation(address indexed proxy, address singleton)",
  "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)",
  "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool success)",
  "function multiSend(bytes transactions) payable",
]);
const token = viem.parseAbi([
  "function mint(address account, uint256 amount)",
  "function approve(address spender, uint256 amount) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
]);
const collection = viem.parseAbi([
  "function mint(address minter, uint256 tokenId, uint256 quantity, address[] rewardsRecipients, bytes minterArguments) payable",
  "function balanceOf(address account, uint256 id) view returns (uint256)",
]);
const minter = viem.parseAbi([
  "function mint(address mintTo, uint256 quantity, address tokenAddress, uint256 tokenId, uint256 totalValue, address currency, address mintReferral, string comment) payable",
]);

const receiptOf = (hash) => node.waitForTransactionReceipt({ hash, timeout: PATIENCE });

/** A key with money and, as a third, the way to send calls with it. */
async function key() {
  const account = privateKeyToAccount(generatePrivateKey());
  await askNode("anvil_setBalance", [account.address, "0xde0b6b3a7640000"]);
  return { account, client: viem.createWalletClient({ account, chain, transport }) };
}

/** One transaction each, as wallets without batches send them. Gas is given: a wallet may send what its node wouldn't try. */
async function keyWallet() {
  const { account, client } = await key();
  const send = async (calls) => {
    for (const { to, data, value } of calls) {
      const hash = await client.sendTransaction({ to, data, value: BigInt(value), gas: 2_000_000n });
      if ((await receiptOf(hash)).status !== "success") return false;
    }
    return true;
  };
  return { address: account.address.toLowerCase(), send };
}

async function newSafe() {
  const { account, client } = await key();
  const none = viem.zeroAddress;
  const initializer = viem.encodeFunctionData({
    abi: safe,
    functionName: "setup",
    args: [[account.address], 1n, none, "0x", HANDLER, none, 0n, none],
  });
  const hash = await client.writeContract({
    address: FACTORY,
    abi: safe,
    functionName: "createProxyWithNonce",
    args: [SINGLETON, initializer, BigInt(Date.now())],
  });
  const [{ args }] = viem.parseEventLogs({ abi: safe, logs: (await receiptOf(hash)).logs, eventName: "ProxyCreation" });
  await askNode("anvil_setBalance", [args.proxy, "0xde0b6b3a7640000"]);
  // Its owner sends, so a signature of that form is enough.
  const signature = viem.concat([viem.pad(account.address), viem.pad("0x"), "0x01"]);
  const execute = async (to, value, data, operation) => {
    const hash = await client.writeContract({
      address: args.proxy,
      abi: safe,
      functionName: "execTransaction",
      args: [to, value, data, operation, 0n, 0n, 0n, none, none, signature],
      gas: 3_000_000n,
    });
    return receiptOf(hash);
  };
  return { address: args.proxy.toLowerCase(), execute };
}

/** A contract's account, which executes call by call. */
async function safeWallet() {
  const { address, execute } = await newSafe();
  const send = async (calls) => {
    for (const { to, data, value } of calls) {
      if ((await execute(to, BigInt(value), data, 0)).status !== "success") return false;
    }
    return true;
  };
  return { address, send };
}

/** A wallet behind an EIP-1193 provider that takes batches and executes all of one or nothing. */
async function batchWallet() {
  const { address, execute } = await newSafe();
  const done = new Map();
  const request = async ({ method, params }) => {
    if (method === "eth_chainId") return "0x2105";
    if (method === "wallet_sendCalls") {
      const [{ calls, from }] = params;
      assert.equal(from.toLowerCase(), address);
      const parts = calls.map(({ to, data = "0x", value = "0x0" }) =>
        viem.encodePacked(
          ["uint8", "address", "uint256", "uint256", "bytes"],
          [0, to, BigInt(value), BigInt(viem.size(data)), data],
        ),
      );
      const batch = viem.encodeFunctionData({ abi: safe, functionName: "multiSend", args: [viem.concat(parts)] });
      const receipt = await execute(BATCHES, 0n, batch, 1);
      done.set(receipt.transactionHash, receipt);
      return receipt.transactionHash;
    }
    if (method === "wallet_getCallsStatus") {
      const { status, logs, blockHash, blockNumber, gasUsed, transactionHash } = done.get(params[0]);
      const hex = (number) => viem.numberToHex(number);
      const receipt = { logs, blockHash, blockNumber: hex(blockNumber), gasUsed: hex(gasUsed), transactionHash };
      return { status: "CONFIRMED", receipts: [{ ...receipt, status: status === "success" ? "0x1" : "0x0" }] };
    }
    throw new Error(`the wallet has no ${method}`);
  };
  const client = viem.createWalletClient({ account: address, chain, transport: viem.custom({ request }, { retryCount: 0 }) });
  const wallet = client.extend(eip5792Actions());
  const send = async (calls) => {
    const id = await wallet.sendCalls({ calls: calls.map((call) => ({ ...call, value: BigInt(call.value) })) });
    const { receipts } = await wallet.getCallsStatus({ id });
    return receipts.every(({ status }) => status === "success");
  };
  return { address, send };
}

const post = async (path, body) => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${stack.api}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { ...(await answer.json()), status: answer.status };
};

/** Reads until the index has it. */
const seen = (read) => until(async () => (await read()) || assert.fail("the index doesn't have it"));

const artist = new Moments({ baseUrl: stack.api });
/** A custodial account, which collects through the service. */
const collector = new Moments({ baseUrl: stack.api });
let own;
before(async () => {
  for (const client of [artist, collector]) {
    const email = unusedEmail();
    await client.sendCode(email);
    const { social_wallet: account } = await client.logIn(email, await codeFor(email));
    await client.createApiKey("wallets");
    if (client === collector) own = account;
  }
  await askNode("anvil_setBalance", [own, "0xde0b6b3a7640000"]);
  await giveDollars(own, 20n * DOLLARS);
});

async function giveDollars(account, amount) {
  const { client } = await key();
  await receiptOf(await client.writeContract({ address: usdc, abi: token, functionName: "mint", args: [account, amount] }));
}

/** A moment for ether or dollars that is indexed, as requests name it. */
async function publish(currency, more = {}) {
  const dollars = { type: "erc20Mint", pricePerToken: String(DOLLARS), currency: usdc };
  const sale = currency === "USDC" ? dollars : { type: "fixedPrice", pricePerToken: String(PRICE) };
  const body = {
    contract: { name: "For Wallets", uri: "ipfs://bafywallets/collection.json" },
    token: { tokenMetadataURI: "ipfs://bafywallets/1.json", salesConfig: { ...sale, saleStart: 0, saleEnd: NO_END }, ...more },
  };
  const { contractAddress, tokenId } = await artist.write("/moment/create", { body });
  const moment = { collectionAddress: contractAddress, tokenId };
  await seen(() => artist.get("/moment", { params: { query: moment } }));
  return moment;
}

const order = (moment, account, more = {}) => ({ moment, amount: 2, account, comment: "Seen from the ferry", ...more });
const prepare = (...of) => post("/moment/collect/prepare", order(...of));
const tokensOf = (account, { collectionAddress }) =>
  node.readContract({ address: collectionAddress, abi: collection, functionName: "balanceOf", args: [account, 1n] });

/** What lists say of an account's collect of a moment, without what differs from collect to collect. */
async function listed(moment, account) {
  const query = { collectionAddress: moment.collectionAddress, tokenId: moment.tokenId };
  const comment = await seen(async () => {
    const { comments } = await artist.get("/comments", { params: { query } });
    return comments.find(({ sender }) => sender === account);
  });
  const row = await seen(async () => {
    const of = { collection: moment.collectionAddress, tokenId: moment.tokenId };
    const { transfers } = await artist.get("/transfers", { params: { query: of } });
    return transfers.find(({ collector: { address } }) => address === account);
  });
  const { quantity, value, currency } = row;
  return { comment: comment.comment, quantity, value, currency, moment: row.moment.token_id };
}

for (const [kind, wallet] of Object.entries({ key: keyWallet, Safe: safeWallet, "EIP-5792": batchWallet })) {
  test(`${kind}: collects for ether and dollars, and lists say what they say of the service's own collects`, async () => {
    const { address, send } = await wallet();
    for (const currency of ["ETH", "USDC"]) {
      const moment = await publish(currency);
      if (currency === "USDC") {
        const poor = await prepare(moment, address);
        assert.equal(poor.status, 402, poor.message);
        await giveDollars(address, 10n * DOLLARS);
      }
      const { calls, cost, chainId, simulated, ...other } = await prepare(moment, address);
      assert.ok(calls, other.message);
      const amount = currency === "USDC" ? 2n * DOLLARS : 2n * (PRICE + FEE);
      assert.deepEqual([chainId, cost.currency, cost.amount, simulated], [8453, currency, String(amount), true]);
      assert.equal(calls.length, currency === "USDC" ? 2 : 1, "an approval only where it lacks");
      assert.ok(await send(calls));
      assert.equal(await tokensOf(address, moment), 2n);
      await collector.write("/moment/collect", { body: { moment, amount: 2, comment: "Seen from the ferry" } });
      assert.deepEqual(await listed(moment, address), await listed(moment, own));
    }
  });

  test(`${kind}: an allowance that is there isn't asked for again`, async () => {
    const { address, send } = await wallet();
    const moment = await publish("USDC");
    await giveDollars(address, 4n * DOLLARS);
    const approve = { abi: token, functionName: "approve", args: [erc20Minter, 2n * DOLLARS] };
    assert.ok(await send([{ to: usdc, data: viem.encodeFunctionData(approve), value: "0x0" }]));
    const { calls } = await prepare(moment, address);
    assert.equal(calls.length, 1);
    assert.ok(await send(calls));
    assert.equal((await prepare(moment, address)).calls.length, 2, "the allowance is used up");
  });

  test(`${kind}: what is sold out, or costs another price by now, takes no money`, async () => {
    const { address, send } = await wallet();
    const few = await publish("ETH", { maxSupply: 3 });
    const late = await prepare(few, address);
    await collector.write("/moment/collect", { body: { moment: few, amount: 2 } });
    assert.equal((await prepare(few, address)).status, 422);
    const paid = (moment) => Promise.all([tokensOf(address, moment), node.getBalance({ address: few.collectionAddress })]);
    assert.equal(await send(late.calls), false);
    assert.deepEqual(await paid(few), [0n, 0n]);

    const dearer = await publish("ETH");
    const old = await prepare(dearer, address);
    await artist.write("/sale", { body: { moment: dearer, pricePerToken: String(2n * PRICE) } });
    const refused = await prepare(dearer, address, { maxPrice: old.cost.amount });
    assert.deepEqual([refused.status, refused.price], [409, String(2n * (2n * PRICE + FEE))]);
    assert.equal(await send(old.calls), false);
    assert.equal(await tokensOf(address, dearer), 0n);
  });

  test(`${kind}: creates a collection with a moment, then a moment in it`, async () => {
    const { address, send } = await wallet();
    const salesConfig = { type: "fixedPrice", pricePerToken: String(PRICE), saleStart: 0, saleEnd: NO_END };
    const body = { token: { tokenMetadataURI: "ipfs://bafywallets/own.json", salesConfig }, account: address };
    const contract = { name: "By Hand", uri: "ipfs://bafywallets/own" };
    const made = await post("/moment/create/prepare", { ...body, contract });
    assert.ok(made.calls, made.message);
    assert.ok(await send(made.calls));
    const [{ address: there }] = await seen(async () => {
      const { collections } = await artist.get("/collections", { params: { query: { artist: address } } });
      return collections.length > 0 && collections;
    });
    const added = await post("/moment/create/prepare", { ...body, contract: { address: there } });
    assert.ok(added.calls, added.message);
    assert.ok(await send(added.calls));
    const query = { collectionAddress: there, tokenId: "2" };
    const moment = await seen(() => artist.get("/moment", { params: { query } }));
    assert.deepEqual([moment.creator.address, moment.admins.includes(address)], [address, true]);
    const stranger = await post("/moment/create/prepare", { ...body, contract: { address: there }, account: own });
    assert.equal(stranger.status, 403);
  });
}

/** The call with other arguments. */
function altered(abi, call, change) {
  const { functionName, args } = viem.decodeFunctionData({ abi, data: call.data });
  return { ...call, data: viem.encodeFunctionData({ abi, functionName, args: change([...args]) }) };
}

test("altered call: the price and the amount don't, the recipient and the referral do what the wallet signs", async () => {
  const { address, send } = await keyWallet();
  const thief = (await keyWallet()).address;
  const moment = await publish("ETH");
  const { calls: [call] } = await prepare(moment, address);
  const more = altered(collection, call, (args) => args.with(2, 3n));
  assert.equal(await send([more]), false, "three for the price of two");
  const cheaper = { ...call, value: viem.numberToHex(BigInt(call.value) - 1n) };
  assert.equal(await send([cheaper]), false, "a wei less");
  const dearer = { ...call, value: viem.numberToHex(BigInt(call.value) + 1n) };
  assert.equal(await send([dearer]), false, "a wei more is taken for a mistake");
  assert.equal(await tokensOf(address, moment), 0n);

  const words = [{ type: "address" }, { type: "string" }];
  const stolen = altered(collection, call, (args) => {
    const [, comment] = viem.decodeAbiParameters(words, args[4]);
    return args.with(4, viem.encodeAbiParameters(words, [thief, comment])).with(3, [thief]);
  });
  assert.ok(await send([stolen]), "a wallet may buy for whom it signs");
  assert.deepEqual([await tokensOf(address, moment), await tokensOf(thief, moment)], [0n, 2n]);
  // Lists tell what the chain tells: who has it, who said it, and whose the reward is.
  const { quantity, comment } = await listed(moment, thief);
  assert.deepEqual([quantity, comment], ["2", "Seen from the ferry"]);
  const row = await seen(async () => {
    const { payments } = await artist.get("/payments", { params: { query: { collection: moment.collectionAddress } } });
    return payments.find(({ referral }) => referral);
  });
  assert.equal(row.referral.address ?? row.referral, thief);

  // Whoever sends the calls of another pays for them.
  const other = await keyWallet();
  const again = await prepare(moment, address);
  const before = await node.getBalance({ address });
  assert.ok(await other.send(again.calls));
  assert.deepEqual([await tokensOf(address, moment), await node.getBalance({ address })], [2n, before]);
});

test("altered call for dollars: neither price nor currency bends", async () => {
  const { address, send } = await keyWallet();
  const moment = await publish("USDC");
  await giveDollars(address, 10n * DOLLARS);
  const { calls: [approval, call] } = await prepare(moment, address);
  assert.ok(await send([approval]));
  const dollars = () => node.readContract({ address: usdc, abi: token, functionName: "balanceOf", args: [address] });
  for (const change of [
    (args) => args.with(4, args[4] - 1n),
    (args) => args.with(1, 3n),
    (args) => args.with(5, erc20Minter),
    (args) => args.with(4, 2n * args[4]),
  ]) {
    assert.equal(await send([altered(minter, call, change)]), false);
  }
  assert.deepEqual([await dollars(), await tokensOf(address, moment)], [10n * DOLLARS, 0n]);
  assert.ok(await send([call]));
  assert.deepEqual([await dollars(), await tokensOf(address, moment)], [8n * DOLLARS, 2n]);
});
