// The mail address: what it is, another one, keeping the present one after all, and what is mailed to it.

import { $, announce, call, confirmed, day, fill, onClick, onSubmit, when } from "./kit.js";
import { prove } from "./proof.js";

/** Keeps the present address; with a proof, where more than a code had it change. */
async function keepEmail() {
  try {
    await call("DELETE", "artists/email");
  } catch (refusal) {
    if (refusal.status !== 400) throw refusal;
    const { nextEmail } = await call("GET", "artists/activity?limit=1");
    const proof = await prove("keepEmail", nextEmail?.email ?? "", ["passkey", "wallet"]);
    await call("DELETE", "artists/email", { proof });
  }
}

export async function loadEmail() {
  const { email, nextEmail, newsMails } = await call("GET", "artists/activity?limit=1");
  $("news-mails").value = newsMails;
  $("news-form").hidden = !email;
  $("mail-now").textContent = email ?? "None: you sign in with a wallet.";
  $("mail-next").hidden = !nextEmail;
  $("mail-next-address").textContent = nextEmail?.email ?? "";
  $("mail-next-at").textContent = nextEmail ? when(day, nextEmail.at) : "";
  $("mail-form").hidden = Boolean(nextEmail);
  return true;
}

onSubmit($("mail-form"), async ({ "new-email": address }) => {
  const email = address.value.trim();
  const newProof = await prove("newEmail", email, ["email"]);
  const proof = await prove("changeEmail", email);
  const { changesAt } = await call("POST", "artists/email", { email, newProof, proof });
  forgetEmail();
  await fill("mail", loadEmail);
  announce(`The address changes on ${when(day, changesAt)}.`);
}, { email: "new-email", subject: "new-email" });

onClick($("mail-keep"), $("mail-problem"), async () => {
  if (!await confirmed("Keep the present address?", "The new one doesn’t take its place.", "Keep it", "Back")) return;
  await keepEmail();
  await fill("mail", loadEmail);
  announce("The present address stays.");
});

onSubmit($("news-form"), async ({ "news-mails": choice }) => {
  await call("PATCH", "artists/me", { news_mails: choice.value });
  announce(choice.value === "none" ? "No more such mails come." : "Saved.");
}, { news_mails: "news-mails" });
$("news-mails").addEventListener("change", () => $("news-form").requestSubmit());

export function forgetEmail() {
  $("mail-form").reset();
  for (const text of ["mail-now", "mail-next-address", "mail-next-at"]) $(text).textContent = "";
}
