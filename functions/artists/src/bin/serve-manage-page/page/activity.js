// What happened to the account, newest first, and the devices that it was signed in on.

import { $, announce, call, minute, nextOf, onClick, row, session, when, whenChanged } from "./kit.js";

const WORDS = {
  signed_in: "Signed in",
  signed_out: "Signed out",
  signed_out_everywhere: "Signed out everywhere",
  device_forgotten: "Device forgotten",
  key_created: "API key made",
  powerful_key_created: "Powerful API key made",
  key_revoked: "API key revoked",
  wallet_connected: "Wallet connected",
  wallet_disconnected: "Wallet disconnected",
  payout_added: "Payout address added",
  payout_removed: "Payout address removed",
  passkey_added: "Passkey added",
  passkey_removed: "Passkey removed",
  passkey_kept: "Passkey stays",
  email_changing: "Mail address is to change",
  email_kept: "Mail address stays",
  withdrawn: "Money sent",
  collected: "Large purchase",
  purchased: "Collected",
  published: "Published",
  edited: "Edited",
  sale_changed: "Sale changed",
  airdropped: "Given away",
  claim_link_created: "Claim link made",
  moment_moved: "Moment moved",
  commented: "Commented",
  moment_hidden: "Moment hidden",
  moment_shown: "Moment shown",
  admin_granted: "Admin made",
  admin_revoked: "Admin removed",
  migrated: "Own wallet made an admin",
  deletion_requested: "Deletion asked for",
  deletion_cancelled: "Deletion taken back",
  webhook_created: "Webhook made",
  webhook_changed: "Webhook changed",
  webhook_deleted: "Webhook deleted",
  webhook_rotated: "Webhook’s secret replaced",
};
const PAGE = 5;

let next, ofWorks = false;

export async function loadActivity() {
  next = `?limit=${PAGE}&works=${ofWorks}`;
  $("of-works").textContent = ofWorks ? "Show account" : "Show works";
  const entries = await more();
  $("activity-list").replaceChildren(...entries);
  return entries.length;
}

async function more() {
  const answer = await call("GET", `artists/activity${next}`);
  $("session-list").replaceChildren(...answer.sessions.map(sessionRow));
  $("device-list").replaceChildren(...answer.devices.map(deviceRow));
  next = nextOf(answer);
  $("older").hidden = !next;
  return answer.activity.map(activityRow);
}

const activityRow = ({ kind, at, network, subject }) => row("activity-row", {
  kind: WORDS[kind] ?? kind.replaceAll("_", " "),
  subject,
  time: when(minute, at),
  network,
});

function sessionRow({ id, agent, network, since, isCurrent }) {
  const name = isCurrent ? "This session" : agent || "Unnamed program";
  const element = row("session-row", { agent: name, network, since: when(minute, since) });
  const button = element.querySelector("button");
  button.hidden = isCurrent;
  button.ariaLabel = `End the session of ${name}`;
  onClick(button, $("session-problem"), async () => {
    await call("POST", "oauth/logout", { sessionId: id });
    await loadActivity();
    $("activity-title").tabIndex = -1;
    $("activity-title").focus();
    announce("The session is ended.");
  });
  return element;
}

function deviceRow({ id, agent, network, seen }) {
  const element = row("device-row", { agent: agent || "Unnamed device", network, seen: when(minute, seen) });
  const button = element.querySelector("button");
  onClick(button, $("device-problem"), async () => {
    await call("DELETE", `artists/devices?deviceId=${id}`);
    $("activity-title").tabIndex = -1;
    $("activity-title").focus();
    announce("The device is forgotten.");
  });
  return element;
}

onClick($("older"), $("activity-problem"), async () => {
  const entries = await more();
  $("activity-list").append(...entries);
  if (entries.length) {
    entries[0].tabIndex = -1;
    entries[0].focus();
  }
});

onClick($("of-works"), $("activity-problem"), async () => {
  ofWorks = !ofWorks;
  await loadActivity();
});

whenChanged(async () => {
  const asked = session;
  await loadActivity().catch(() => {});
  if (asked === session && $("activity-list").children.length) $("activity").dataset.state = "ready";
});

export function forgetActivity() {
  next = undefined;
  ofWorks = false;
  $("activity-list").replaceChildren();
  for (const list of ["session-list", "device-list"]) $(list).replaceChildren();
  $("older").hidden = true;
}
