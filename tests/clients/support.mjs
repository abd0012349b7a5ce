// Support for the clients' tests: the running stack, its mails, and programs that sign in.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { found } from "../page/patience.mjs";

/** The repository's folder. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The running stack's file, and its addresses. */
export const stackFile = process.env.MOMENTS_STACK ?? `${root}.local/stack.json`;
export const stack = JSON.parse(readFileSync(stackFile, "utf8"));

export const unusedEmail = () => `${crypto.randomUUID().replaceAll("-", "")}@example.com`;

/** The codes mailed to an address, newest last. */
export async function codesFor(email) {
  const { messages } = await (await fetch(stack.mail)).json();
  const mails = Object.values(messages).flat().filter((mail) => mail.To.includes(email));
  return mails.flatMap((mail) => mail.BodyText.match(/sign-in code is (\d{6})/)?.[1] ?? []);
}

/** The newest code mailed to an address, once it is there. */
export const codeFor = (email) => found(async () => (await codesFor(email)).at(-1), `code mailed to ${email}`);

/** Calls a method of the default chain's node. */
export async function askNode(method, params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await (await fetch(stack.rpc["8453"], { method: "POST", headers: { "content-type": "application/json" }, body })).json();
  if (answer.error) throw new Error(answer.error.message);
  return answer.result;
}

/** Sends a request until its outcome is known: while a write isn't mined (202), or an equal one is being answered. */
export async function write(url, { headers, ...options }) {
  const request = { ...options, headers: { "idempotency-key": crypto.randomUUID(), ...headers } };
  const ask = async () => {
    const answer = await fetch(url, request);
    const isBusy = answer.status === 409 && (await answer.clone().text()).includes("A request with this Idempotency-Key is being answered");
    if (answer.status !== 202 && !isBusy) return answer;
    await answer.body?.cancel();
  };
  return found(ask, `outcome of ${options.method} ${url}`);
}

/** Runs a program and returns what it prints. Its input is the code that `email` gets. */
export async function run(command, args, { input = "", email, ...options } = {}) {
  const child = spawn(command, args, { cwd: root, ...options });
  let [printed, errors, isOver] = ["", "", false];
  child.stdout.on("data", (data) => (printed += data));
  child.stderr.on("data", (data) => (errors += data));
  const end = new Promise((resolve, reject) => child.on("error", reject).on("close", resolve)).finally(() => (isOver = true));
  child.stdin.on("error", () => {});
  child.stdin.write(input);
  if (email) {
    const asked = found(async () => isOver || (await codesFor(email)).at(0), `code mailed to ${email}`);
    const code = await asked.catch((error) => child.kill() && Promise.reject(error));
    child.stdin.write(`${code}\n`);
  }
  child.stdin.end();
  const status = await end;
  if (status !== 0) throw new Error(`${command} ended with ${status}:\n${printed}\n${errors}`);
  return printed;
}
