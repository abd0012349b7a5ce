// The artist's passkeys: adding, removing and keeping them.

import { $, announce, call, confirmed, day, fill, onClick, onSubmit, row, session, when } from "./kit.js";
import { ask, counts, isSupported, notePasskeys } from "./passkeys.js";
import { prove } from "./proof.js";

export async function loadPasskeys() {
  const { passkeys } = await call("GET", "artists/passkeys");
  notePasskeys(passkeys);
  $("passkey-list").replaceChildren(...passkeys.map(passkeyRow));
  return passkeys.length;
}

function passkeyRow(passkey) {
  const { id, name, created_at, last_used_at, removed_at } = passkey;
  const used = last_used_at ? `last used ${when(day, last_used_at)}` : "never used";
  const ends = removed_at ? ` · removed ${when(day, removed_at)}, unless you keep it` : "";
  const element = row("passkey-row", { name, made: when(day, created_at), used: `${used}${ends}` });
  const [keep, remove] = element.querySelectorAll("button");
  keep.ariaLabel = `Keep ${name}`;
  keep.hidden = !removed_at;
  remove.ariaLabel = `Remove ${name}`;
  const path = `artists/passkeys?passkeyId=${id}`;
  onClick(keep, $("passkey-problem"), async () => {
    const proofs = [await prove("keepPasskey", id, ["passkey"]), await prove("keepPasskey", id, ["email", "wallet"])];
    await call("PATCH", path, { proofs });
    await fill("passkeys", loadPasskeys);
    announce(`${name} stays.`);
  });
  onClick(remove, $("passkey-problem"), async () => {
    const text = `“${name}” no longer signs you in: at once if you prove it with a passkey, else in 7 days.`;
    const isYoung = !counts(passkey);
    if (!await confirmed("Remove this passkey?", isYoung ? `“${name}” no longer signs you in.` : text, "Remove")) return;
    const proof = await prove("removePasskey", id, isYoung ? undefined : ["passkey", "email", "wallet"]);
    const { passkeys } = await call("DELETE", path, { proof });
    await fill("passkeys", loadPasskeys);
    announce(passkeys.some((left) => left.id === id) ? `${name} is removed in 7 days.` : `${name} is removed.`);
  });
  return element;
}

onSubmit($("passkey-form"), async ({ "passkey-name": name }) => {
  const asked = session;
  const { ceremony, publicKey } = await call("POST", "artists/passkeys/challenge");
  // First, so that no device keeps a passkey that isn't added.
  const proof = await prove("addPasskey", ceremony);
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey);
  const credential = await ask(() => navigator.credentials.create({ publicKey: options }));
  if (asked !== session) return;
  await call("POST", "artists/passkeys", { ceremony, credential, name: name.value.trim() || undefined, proof });
  $("passkey-form").reset();
  await fill("passkeys", loadPasskeys);
  announce("The passkey is added. Money, keys and wallets need it from tomorrow on.");
}, { name: "passkey-name" });

$("passkey-form").hidden = !isSupported;
$("no-passkeys").hidden = isSupported;

export const forgetPasskeys = () => $("passkey-list").replaceChildren();
