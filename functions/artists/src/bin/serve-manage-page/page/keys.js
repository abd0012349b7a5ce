// Keys: what each may do, until when, and how much it may spend.

import { $, all, announce, call, confirmed, day, decimal, fill, item, minute, onClick, onSubmit, row, smallest, when, wrong } from "./kit.js";

const SCOPES = { publish: "publishes", collect: "collects", admin: "gives permissions" };

export async function loadKeys() {
  const { keys } = await call("GET", "artists/api-keys");
  $("key-list").replaceChildren(...keys.map(keyRow));
  return keys.length;
}

function keyRow({ id, name, prefix, created_at, last_used_at, scopes, expires_at, daily_spend }) {
  const used = last_used_at ? `last used ${when(minute, last_used_at)}` : "never used";
  const ends = expires_at ? `ends ${when(day, expires_at)}` : "no end";
  const may = scopes.map((scope) => SCOPES[scope] ?? scope).join(", ");
  const spends = `spends up to ${decimal(daily_spend.eth, 18)} ETH and ${decimal(daily_spend.usdc, 6)} USDC a day`;
  const element = row("key-row", {
    name, prefix: `${prefix}…`, made: when(day, created_at), used, ends,
    may: scopes.includes("collect") ? `${may} · ${spends}` : may,
    requests: `Requests with ${name}`,
  });
  const requests = element.querySelector("details");
  requests.addEventListener("toggle", () => requests.open && showRequests(requests.lastElementChild, id));
  const button = element.querySelector("button");
  button.ariaLabel = `Revoke ${name}`;
  onClick(button, $("key-problem"), async () => {
    if (!await confirmed("Revoke this key?", `Whatever uses “${name}” stops working at once, and for good.`, "Revoke")) return;
    await call("DELETE", `artists/api-keys?keyId=${id}`);
    await fill("keys", loadKeys);
    $("name").focus();
    announce(`${name} is revoked.`);
  });
  return element;
}

/** What a program did with a key, the last first. */
async function showRequests(list, key) {
  list.replaceChildren(item("Loading …"));
  try {
    const { requests } = await call("GET", `artists/requests?keyId=${key}`);
    list.replaceChildren(...(requests.length ? requests.map((request) => item(told(request))) : [item("None in the last week.")]));
  } catch (error) {
    list.replaceChildren(item(error.message));
  }
}

function told({ at, route, status, message, durationMs, requestId, skipped }) {
  const before = skipped ? ` · ${skipped} before it aren’t kept` : "";
  return `${when(minute, at)} · ${route} · ${status}${message ? `: ${message}` : ""} · ${durationMs} ms · ${requestId}${before}`;
}

/** A limit that may be left to the service. */
const limit = (input, places) => (input.value.trim() ? smallest(input.value, places, input.id) : undefined);

onSubmit($("key-form"), async ({ name, days, "key-eth": ether, "key-usdc": dollars }) => {
  const scopes = [...document.querySelectorAll("[name=scope]:checked")].map(({ value }) => value);
  const [eth, usdc] = all(
    () => limit(ether, 18),
    () => limit(dollars, 6),
    () => {
      if (!scopes.length) throw wrong("scope-publish", "choose one at least");
    },
  );
  const dailySpend = eth || usdc ? { eth, usdc } : undefined;
  const expiresInDays = Number(days.value);
  const { apiKey } = await call("POST", "artists/api-keys", { name: name.value.trim() || undefined, scopes, expiresInDays, dailySpend });
  $("new-key-value").value = apiKey;
  $("new-key").hidden = false;
  $("key-form").reset();
  $("new-key-title").focus();
  await fill("keys", loadKeys);
}, { "dailySpend.eth": "key-eth", "dailySpend.usdc": "key-usdc", scopes: "scope-publish", expiresInDays: "days" });

export function hideNewKey() {
  $("new-key-value").value = "";
  $("new-key").hidden = true;
}

$("new-key-done").addEventListener("click", () => {
  hideNewKey();
  $("name").focus();
});
