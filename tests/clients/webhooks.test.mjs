// What the service sends to webhooks, checked by the published libraries of Standard Webhooks: they take it, and nothing that
// was altered.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { gate, within } from "../page/patience.mjs";
import { codeFor, root, stack, unusedEmail } from "./support.mjs";

const PYTHON = `
import json, sys
from standardwebhooks import Webhook
message = json.load(sys.stdin)
Webhook(message["secret"]).verify(message["body"], message["headers"])
`;

const ask = async (method, path, token, body) => {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${stack.api}${path}`, { method, headers, body: body && JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
};

let receiver, secrets, message;
before(async () => {
  const { held: arrived, release: tell } = gate();
  receiver = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { type, data } = JSON.parse(body);
    if (type === "webhook.challenge") return response.end(JSON.stringify(data));
    response.writeHead(204).end();
    tell({ headers: request.headers, body });
  });
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const email = unusedEmail();
  await ask("POST", "/oauth/code", undefined, { email });
  const { token } = await ask("POST", "/oauth/login", undefined, { email, code: await codeFor(email) });
  const url = `http://127.0.0.1:${receiver.address().port}/`;
  const { webhook, secret } = await ask("POST", "/webhooks", token, { url });
  const rotated = await ask("POST", `/webhooks/${webhook.id}/rotate`, token);
  secrets = [secret, rotated.secret];
  await ask("POST", `/webhooks/${webhook.id}/test`, token);
  message = await within(arrived, "the webhook");
});
after(() => {
  receiver?.close();
  receiver?.closeAllConnections();
});

const altered = () => [
  { ...message, body: `${message.body} ` },
  { ...message, headers: { ...message.headers, "webhook-id": "another" } },
  { ...message, headers: { ...message.headers, "webhook-timestamp": String(Number(message.headers["webhook-timestamp"]) + 1) } },
];

test("npm: standardwebhooks takes both secrets' signatures, and nothing that was altered", () => {
  for (const secret of secrets) {
    const library = new Webhook(secret);
    assert.equal(library.verify(message.body, message.headers).type, "webhook.test");
    for (const { body, headers } of altered()) assert.throws(() => library.verify(body, headers));
  }
  assert.throws(() => new Webhook(`whsec_${Buffer.alloc(32).toString("base64")}`).verify(message.body, message.headers));
});

test("PyPI: standardwebhooks takes both secrets' signatures, and nothing that was altered", () => {
  const verify = (secret, { body, headers }) => {
    const input = JSON.stringify({ secret, body, headers });
    return spawnSync(join(root, "tests/clients/.venv/bin/python"), ["-c", PYTHON], { input, encoding: "utf8" });
  };
  for (const secret of secrets) {
    const taken = verify(secret, message);
    assert.equal(taken.status, 0, taken.stderr);
    for (const other of altered()) assert.match(verify(secret, other).stderr, /WebhookVerificationError/);
  }
});
