import type { components } from "./schema.js";
import { MomentsError } from "./errors.js";
import { persisting, type RetryOptions } from "./retry.js";

/** Sends a part of a file to its address; `tell` is told how many of its bytes have left. */
export type SendPart = (
  part: components["schemas"]["UploadPart"],
  body: Blob,
  tell: (done: number) => void,
  signal?: AbortSignal,
) => Promise<void>;

/** Sends parts with the given `fetch`, or else in the way that can tell most. No credential goes along. */
export function partSender(fetch: ((request: Request) => Promise<Response>) | undefined, options: RetryOptions): SendPart {
  return async ({ url, offset, size }, body, tell, signal) => {
    const send = () => {
      if (!fetch && typeof XMLHttpRequest === "function") return sendTelling(url, body, tell, signal);
      const request = new Request(url, { method: "PUT", body, ...(signal && { signal }) });
      return (fetch ?? globalThis.fetch)(request);
    };
    const answer = await persisting(send, true, options, signal);
    if (answer.ok) return;
    const message = `The storage refused bytes ${offset} to ${offset + size} with ${answer.status}: upload the file again`;
    throw new MomentsError(answer, { message });
  };
}

/** `fetch` doesn't tell how much of a body has left. */
function sendTelling(url: string, body: Blob, tell: (done: number) => void, signal?: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.upload.onprogress = ({ loaded }) => tell(loaded);
    request.onloadend = () => {
      signal?.removeEventListener("abort", abort);
      if (request.status >= 200) resolve(new Response(null, { status: request.status }));
      else reject(signal?.aborted ? signal.reason : new TypeError("The connection to the storage was lost"));
    };
    signal?.addEventListener("abort", abort, { once: true });
    request.open("PUT", url);
    request.send(body);
  });
}
