// Webhooks: where events are sent to, what became of the last ones, and whether a receiver gets more.

import { $, announce, call, confirmed, fill, item, minute, onClick, onSubmit, row, when } from "./kit.js";

const STATES = {
  active: "on",
  paused: "off",
  gone: "off: its receiver wants nothing more",
  failing: "off: its receiver failed",
  pending: "waits until its receiver answers the challenge",
};
const SHOWN = 5;

export async function loadWebhooks() {
  const { webhooks } = await call("GET", "webhooks");
  const lists = webhooks.map(({ id }) => call("GET", `webhooks/${id}/deliveries?limit=${SHOWN}`));
  const deliveries = await Promise.all(lists);
  $("webhook-list").replaceChildren(...webhooks.map((webhook, index) => webhookRow(webhook, deliveries[index].deliveries)));
  return webhooks.length;
}

function told({ created_at, type, status, attempts, last_attempt }) {
  const answer = last_attempt && (last_attempt.status ?? last_attempt.error);
  const outcome = last_attempt ? ` · ${answer} after ${last_attempt.latency_ms} ms` : "";
  return `${when(minute, created_at)} · ${type}: ${status}${attempts > 1 ? `, ${attempts} tries` : ""}${outcome}`;
}

function webhookRow(webhook, deliveries) {
  const { id, url, description, types, collection, status, last_challenge } = webhook;
  const wanted = types.length ? types.join(", ") : "all events";
  const of = collection ? ` of ${collection}` : "";
  const problem = last_challenge ? ` (${last_challenge.error ?? last_challenge.status})` : "";
  const element = row("webhook-row", { url, what: `${description ? `${description} · ` : ""}${wanted}${of} · ${STATES[status]}${problem}` });
  element.querySelector("[data-slot=deliveries]").append(...deliveries.map((delivery) => item(told(delivery))));
  const act = (name, words, done) => {
    const button = element.querySelector(`[data-act=${name}]`);
    if (words) button.textContent = words;
    button.ariaLabel = `${button.textContent} ${url}`;
    onClick(button, $("webhook-problem"), done);
  };
  const isOn = status === "active" || status === "pending";
  const again = async (words) => {
    await fill("webhooks", loadWebhooks);
    announce(words);
  };
  act("test", "", async () => {
    await call("POST", `webhooks/${id}/test`);
    await again(`A test is on its way to ${url}.`);
  });
  act("switch", isOn ? "Switch off" : "Switch on", async () => {
    await call("PATCH", `webhooks/${id}`, { active: !isOn });
    await again(isOn ? "It is off." : "It is on.");
  });
  act("rotate", "", async () => {
    const text = "For a day messages are signed with both secrets. Then the old one is of no use.";
    if (!await confirmed("Replace the secret?", text, "Replace")) return;
    const { secret } = await call("POST", `webhooks/${id}/rotate`);
    await show(secret);
  });
  act("delete", "", async () => {
    if (!await confirmed("Delete this webhook?", `Nothing more is sent to ${url}.`, "Delete")) return;
    await call("DELETE", `webhooks/${id}`);
    await again("It is deleted.");
    $("webhook-url").focus();
  });
  element.querySelector("[data-act=test]").disabled = !isOn;
  return element;
}

async function show(secret) {
  $("new-secret-value").value = secret;
  $("new-secret").hidden = false;
  $("new-secret-title").focus();
  await fill("webhooks", loadWebhooks);
}

onSubmit($("webhook-form"), async ({ "webhook-url": url, "webhook-types": chosen }) => {
  const types = chosen.value ? chosen.value.split(" ") : [];
  const { secret } = await call("POST", "webhooks", { url: url.value.trim(), types });
  $("webhook-form").reset();
  await show(secret);
}, { url: "webhook-url", types: "webhook-types" });

onClick($("webhooks-look"), $("webhook-problem"), () => fill("webhooks", loadWebhooks));

export function forgetWebhooks() {
  $("new-secret-value").value = "";
  $("new-secret").hidden = true;
  $("webhook-list").replaceChildren();
}

$("new-secret-done").addEventListener("click", () => {
  $("new-secret-value").value = "";
  $("new-secret").hidden = true;
  $("webhook-url").focus();
});
