// "Programs": keys and webhooks.

import { fill } from "./kit.js";
import { hideNewKey, loadKeys } from "./keys.js";
import { forgetWebhooks, loadWebhooks } from "./webhooks.js";

let isOpen = false;

export async function open() {
  if (isOpen) return;
  isOpen = true;
  await Promise.all([fill("keys", loadKeys), fill("webhooks", loadWebhooks)]);
}

export function forget() {
  isOpen = false;
  hideNewKey();
  forgetWebhooks();
  document.getElementById("key-list").replaceChildren();
}
