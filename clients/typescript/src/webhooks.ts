/** What a webhook's signature is checked with. */
export interface WebhookOptions {
  /** The endpoint's secret, `whsec_…`; both of them while one is being replaced. */
  secret: string | readonly string[];
  /** The request's headers. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The request's body as it was received, not as it was parsed. */
  body: string;
  /** Most seconds between the message's time and now; 300 unless given. */
  tolerance?: number;
}

/** A webhook's signature is wrong, missing or too old. */
export class InvalidWebhookError extends Error {
  override readonly name = "InvalidWebhookError";
}

/** Checks a webhook's signature as the specification Standard Webhooks says, and parses its body. */
export async function verifyWebhook<T = unknown>(options: WebhookOptions): Promise<T> {
  const { secret, headers, body, tolerance = 300 } = options;
  const header = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== "string") throw new InvalidWebhookError(`The header ${name} is missing`);
    return value;
  };
  const [id, timestamp, signatures] = [header("webhook-id"), header("webhook-timestamp"), header("webhook-signature")];
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || age > tolerance) throw new InvalidWebhookError("The message is too old or too new");
  const encoder = new TextEncoder();
  const content = encoder.encode(`${id}.${timestamp}.${body}`);
  const offered = signatures.split(" ").filter((signature) => signature.startsWith("v1,")).map((signature) => bytesOf(signature.slice(3)));
  for (const text of typeof secret === "string" ? [secret] : secret) {
    const bytes = bytesOf(text.replace(/^whsec_/, ""));
    if (!bytes?.length) throw new InvalidWebhookError("The secret isn't one of a webhook");
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of offered) {
      if (signature && (await crypto.subtle.verify("HMAC", key, signature, content))) return JSON.parse(body) as T;
    }
  }
  throw new InvalidWebhookError("The signature is wrong");
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
