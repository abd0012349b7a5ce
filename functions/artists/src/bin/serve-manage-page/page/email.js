// The mail address: what it is, another one, keeping the present one after all, and what is mailed to it.

import { $, announce, call, confirmed, day, fill, onClick, onSubmit, when } from "./kit.js";

/** The address that codes were mailed to. */
let asked = "";

export async function loadEmail() {
  const { email, nextEmail, newsMails } = await call("GET", "artists/activity?limit=1");
  $("news-mails").value = newsMails;
  $("news-form").hidden = !email;
  $("mail-now").textContent = email ?? "None: you sign in with a wallet.";
  $("mail-next").hidden = !nextEmail;
  $("mail-next-address").textContent = nextEmail?.email ?? "";
  $("mail-next-at").textContent = nextEmail ? when(day, nextEmail.at) : "";
  $("mail-form").hidden = Boolean(nextEmail);
  if (nextEmail) $("mail-codes").hidden = true;
  return true;
}

onSubmit($("mail-form"), async ({ "new-email": address }) => {
  const email = address.value.trim();
  const { needsCurrentCode } = await call("POST", "artists/email/challenge", { email });
  asked = email;
  $("present-code-field").hidden = !needsCurrentCode;
  $("mail-codes").reset();
  $("mail-codes").hidden = false;
  $("new-code").focus();
}, { email: "new-email" });

onSubmit($("mail-codes"), async ({ "new-code": code, "present-code": present }) => {
  const currentCode = $("present-code-field").hidden ? undefined : present.value.trim();
  const { changesAt } = await call("POST", "artists/email", { email: asked, code: code.value.trim(), currentCode });
  forgetEmail();
  await fill("mail", loadEmail);
  announce(`The address changes on ${when(day, changesAt)}.`);
}, { code: "new-code", currentCode: "present-code", email: "new-code" });

onClick($("mail-keep"), $("mail-problem"), async () => {
  if (!await confirmed("Keep the present address?", "The new one doesn’t take its place.", "Keep it", "Back")) return;
  await call("DELETE", "artists/email");
  await fill("mail", loadEmail);
  announce("The present address stays.");
});

onSubmit($("news-form"), async ({ "news-mails": choice }) => {
  await call("PATCH", "artists/me", { news_mails: choice.value });
  announce(choice.value === "none" ? "No more such mails come." : "Saved.");
}, { news_mails: "news-mails" });
$("news-mails").addEventListener("change", () => $("news-form").requestSubmit());

export function forgetEmail() {
  asked = "";
  for (const form of ["mail-form", "mail-codes"]) $(form).reset();
  $("mail-codes").hidden = true;
  for (const text of ["mail-now", "mail-next-address", "mail-next-at"]) $(text).textContent = "";
}
