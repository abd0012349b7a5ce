// Proofs that it is the artist who changes the ways in, each for one act: by a passkey, a mailed code or a wallet.

import { $, Refusal, call, markField, onSubmit, session } from "./kit.js";
import { answerOf, isSupported, needsPasskey } from "./passkeys.js";
import { accountIn, providers, signedBy } from "./wallets.js";

/** The proof that the dialog's code gives. */
let awaited = "";

/** Ways of proving an act; each gives nothing where there is no such way here. */
const BY = {
  async passkey(act, subject) {
    if (!isSupported) return;
    const { proof, publicKey } = await ask(act, subject, { way: "passkey" });
    return give(proof, { credential: await answerOf(publicKey) });
  },
  async email(act, subject) {
    const mailbox = act === "newEmail" ? subject : (await call("GET", "artists/activity?limit=1")).email;
    if (!mailbox) return;
    const { proof } = await ask(act, subject);
    awaited = proof;
    const dialog = $("proof");
    $("proof-email").textContent = mailbox;
    $("proof-code").value = "";
    markField($("proof-code"));
    dialog.returnValue = "no";
    dialog.showModal();
    await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
    awaited = "";
    $("proof-email").textContent = "";
    if (dialog.returnValue !== "yes") throw new Refusal(0, "Nothing was changed: it needs the code.");
    return proof;
  },
  async wallet(act, subject) {
    const [, provider] = providers[0] ?? [];
    if (!provider) return;
    const address = await accountIn(provider);
    const { proof, message } = await ask(act, subject, { way: "wallet", address: address.toLowerCase() });
    return give(proof, { signature: await signedBy(provider, address, message) });
  },
};

const ask = (act, subject, how = {}) => call("POST", "artists/proofs", { act, subject, ...how });

async function give(proof, answer) {
  await call("PUT", "artists/proofs", { proof, ...answer });
  return proof;
}

/** Whether another way may prove it: this one can't, or was declined; for a wallet in place of a code, if the artist has one. */
function isNext(way, { status, fields }) {
  if (status === 422) return true;
  if (status === 400) return way === "wallet" && fields.some(({ field }) => field === "address");
  const hasWallet = () => providers.length > 0 && Boolean($("wallet-list").querySelector("button:not([hidden])"));
  return status === 0 && (way === "passkey" || way === "email" && hasWallet());
}

/** The first of these ways that there is; what was declined or can't be done goes on to the next. */
export async function prove(act, subject, ways) {
  const asked = session;
  const tried = ways ?? [...await needsPasskey() ? ["passkey"] : [], "email", "wallet"];
  let refused;
  for (const way of tried) {
    try {
      const proof = await BY[way](act, subject);
      if (proof) return proof;
    } catch (refusal) {
      if (!isNext(way, refusal) || asked !== session) throw refusal;
      refused ??= refusal;
    }
  }
  throw refused ?? new Refusal(0, "This takes a mail address, or a wallet in this browser that you connected a day ago.");
}

/** The same; nothing where no way here proves it, rather than a refusal. */
export async function proveIfPossible(act, subject, ways) {
  try {
    return await prove(act, subject, ways);
  } catch (refusal) {
    if (![400, 422].includes(refusal.status)) throw refusal;
  }
}

onSubmit($("proof-form"), async ({ code }) => {
  if (!/^\d{6}$/.test(code.value)) throw new Refusal(400, "", [{ field: "code", message: "must be 6 digits" }]);
  try {
    await give(awaited, { code: code.value });
  } catch (refusal) {
    code.select();
    throw refusal;
  }
  $("proof").close("yes");
});
$("proof-no").addEventListener("click", () => $("proof").close("no"));
