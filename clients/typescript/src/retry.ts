import { WRITES } from "./writes.js";

/** How requests are repeated. */
export interface RetryOptions {
  /** Repetitions at most; 3 unless given, 0 for none. */
  retries?: number;
  /** Longest pause before one, in seconds; what asks for more is not repeated. 30 unless given. */
  maxWait?: number;
}

type Fetch = (request: Request) => Promise<Response>;

/** Operations without a key that answer the same again. */
const REPEATABLE: ReadonlySet<string> = new Set(["POST /uploads/{id}/complete"]);

/** Repeats requests that failed for a while, those that change something under one `Idempotency-Key`. */
export function retrying(fetch: Fetch, basePath: string, options: RetryOptions): Fetch {
  return (request) => {
    const isWrite = isOneOf(WRITES, request, basePath);
    if (isWrite && !request.headers.has("idempotency-key")) {
      request.headers.set("idempotency-key", crypto.randomUUID());
    }
    const isSafe = isWrite || request.method === "GET" || isOneOf(REPEATABLE, request, basePath);
    // A body can be sent once, so each try sends a copy.
    return persisting(() => fetch(request.clone()), isSafe, options, request.signal);
  };
}

/** Sends until it is answered, or not worth another try; `isSafe` if what was done may be done again. */
export async function persisting(
  send: () => Promise<Response>,
  isSafe: boolean,
  options: RetryOptions,
  signal?: AbortSignal,
): Promise<Response> {
  const { retries = 3, maxWait = 30 } = options;
  for (let tried = 0; ; tried++) {
    const [answer, error] = await send().then(
      (answer) => [answer, undefined] as const,
      (error: unknown) => [undefined, error] as const,
    );
    const isOver = tried >= retries || signal?.aborted;
    if (!answer) {
      if (isOver || !isSafe) throw error;
    } else if (isOver || !mayRepeat(answer, isSafe)) {
      return answer;
    }
    const asked = Number(answer?.headers.get("retry-after") ?? 0);
    if (answer && asked > maxWait) return answer;
    const pause = Math.max(asked, 0.25 * 2 ** tried * (0.5 + Math.random()));
    await sleep(Math.min(pause, maxWait), signal);
  }
}

/** After 429, and 503 with a time, nothing was done; the others, the gateway's own 503 among them, may come after the deed. */
function mayRepeat({ status, headers }: Response, isSafe: boolean): boolean {
  if (status === 429 || (status === 503 && headers.has("retry-after"))) return true;
  return isSafe && [500, 502, 503, 504].includes(status);
}

function isOneOf(operations: ReadonlySet<string>, request: Request, basePath: string): boolean {
  const path = new URL(request.url).pathname.slice(basePath.length);
  for (const operation of operations) {
    const [method, pattern = ""] = operation.split(" ");
    const parts = pattern.split("/");
    const given = path.split("/");
    const isMeant = parts.length === given.length && parts.every((part, at) => part.startsWith("{") || part === given[at]);
    if (method === request.method && isMeant) return true;
  }
  return false;
}

/** Waits so many seconds, or until the signal aborts, which it throws the reason of. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
