// "Account": profile, wallets, passkeys, mail address, what happened, files, and one's data.

import { forgetActivity, loadActivity } from "./activity.js";
import { forgetEmail, loadEmail } from "./email.js";
import { forgetFiles, loadFiles } from "./files.js";
import { $, call, confirmed, fill, leave, onClick } from "./kit.js";
import { forgetPasskeys, loadPasskeys } from "./passkey-list.js";
import { forgetProfile, loadProfile } from "./profile.js";
import "./data.js";

let isOpen = false;

export async function open() {
  if (isOpen) return;
  isOpen = true;
  const parts = { profile: loadProfile, passkeys: loadPasskeys, mail: loadEmail, activity: loadActivity, files: loadFiles };
  await Promise.all(Object.entries(parts).map(([part, load]) => fill(part, load)));
}

onClick($("sign-out-everywhere"), $("activity-problem"), async () => {
  const [apiKeys, devices] = ["end-keys", "end-devices"].map((id) => $(id).checked);
  const keys = apiKeys ? "API keys stop working for good" : "API keys go on working";
  const text = `Whoever is signed in as you, here or elsewhere, has to sign in again. ${keys}.`;
  if (!await confirmed("Sign out everywhere?", text, "Sign out", "Stay")) return;
  await call("POST", "oauth/logout", { everywhere: true, apiKeys, devices });
  leave("You are signed out everywhere.");
});

export function forget() {
  isOpen = false;
  for (const forgetPart of [forgetProfile, forgetPasskeys, forgetEmail, forgetActivity, forgetFiles]) forgetPart();
}
