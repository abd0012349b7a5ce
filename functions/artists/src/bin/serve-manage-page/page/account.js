// "Account": profile, wallets, passkeys, what happened, and one's data.

import { forgetActivity, loadActivity } from "./activity.js";
import { $, call, confirmed, fill, leave, onClick } from "./kit.js";
import { loadPasskeys } from "./passkeys.js";
import { forgetProfile, loadProfile } from "./profile.js";
import "./data.js";

let isOpen = false;

export async function open() {
  if (isOpen) return;
  isOpen = true;
  const parts = { profile: loadProfile, passkeys: loadPasskeys, activity: loadActivity };
  await Promise.all(Object.entries(parts).map(([part, load]) => fill(part, load)));
}

onClick($("sign-out-everywhere"), $("activity-problem"), async () => {
  const text = "Whoever is signed in as you, here or elsewhere, has to sign in again. API keys go on working: revoke them one by one.";
  if (!await confirmed("Sign out everywhere?", text, "Sign out", "Stay")) return;
  await call("POST", "oauth/logout", { everywhere: true });
  leave("You are signed out everywhere.");
});

export function forget() {
  isOpen = false;
  for (const forgetPart of [forgetProfile, forgetActivity]) forgetPart();
}
