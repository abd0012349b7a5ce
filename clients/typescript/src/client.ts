import createClient, { type Client, type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, PathsWithMethod } from "openapi-typescript-helpers";
import { ConflictError, errorOf, TransactionFailedError } from "./errors.js";
import { publish, type Published, type PublishOptions } from "./publish.js";
import { type RetryOptions, retrying, sleep } from "./retry.js";
import type { components, paths } from "./schema.js";
import { partSender, type SendPart } from "./send-part.js";
import { upload, type UploadContent, type UploadOptions } from "./upload.js";

/** A schema of the published document, by its name. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** What a client is made of. */
export interface MomentsOptions extends RetryOptions {
  /** The service's address, which ends in `/api`. */
  baseUrl: string;
  /** An artist's key, to create and update. */
  apiKey?: string;
  /** A token from {@link Moments.logIn}, to manage keys and the profile. */
  token?: string;
  /** In place of the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

type Operation<Path extends keyof paths, Method extends HttpMethod> = paths[Path] extends Record<Method, infer It>
  ? It extends Record<string | number, unknown>
    ? It
    : never
  : never;
type Data<Path extends keyof paths, Method extends HttpMethod> = NonNullable<
  FetchResponse<Operation<Path, Method>, object, "application/json">["data"]
>;
type Init<Path extends keyof paths, Method extends HttpMethod> = MaybeOptionalInit<paths[Path], Method>;
type Arguments<It> = undefined extends It ? [init?: It] : [init: It];
type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: Arguments<Init<Path, Method>>
) => Promise<Data<Path, Method>>;
type Write<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: Arguments<Init<Path, Method>>
) => Promise<Exclude<Data<Path, Method>, Schema<"PendingTransaction"> | Schema<"WritesInProgressResponse">>>;
/** The rows of a page. */
type Row<Page> = { [Key in keyof Page]: Page[Key] extends readonly (infer Item)[] ? Item : never }[keyof Page];

/** A client of one service, for one artist or for none. */
export class Moments {
  /** The generated client under this one: every operation, with the answer and its headers; errors are thrown as here. */
  readonly raw: Client<paths>;
  #credentials: { apiKey?: string | undefined; token?: string | undefined };
  #sendPart: SendPart;

  constructor(options: MomentsOptions) {
    const { baseUrl, apiKey, token, fetch = (request) => globalThis.fetch(request) } = options;
    this.#credentials = { apiKey, token };
    this.#sendPart = partSender(options.fetch, options);
    const base = baseUrl.replace(/\/+$/, "");
    const basePath = new URL(base, globalThis.location?.href).pathname;
    this.raw = createClient<paths>({ baseUrl: base, fetch: retrying(fetch, basePath, options) });
    this.raw.use({
      onRequest: ({ request }) => {
        const { apiKey, token } = this.#credentials;
        if (apiKey) request.headers.set("x-api-key", apiKey);
        if (token) request.headers.set("authorization", `Bearer ${token}`);
        return request;
      },
      onResponse: async ({ response }) => {
        if (!response.ok) throw await errorOf(response);
      },
    });
  }

  /** Reads: `await moments.get("/moment", { params: { query: … } })`. */
  readonly get: Call<"get"> = (path, ...init) => this.#data("get", path, init[0]);
  /** Sends, and answers as the service does: 202 at a transaction that isn't mined after 20 seconds. */
  readonly post: Call<"post"> = (path, ...init) => this.#data("post", path, init[0]);
  /** As `post`, with PUT. */
  readonly put: Call<"put"> = (path, ...init) => this.#data("put", path, init[0]);
  /** As `post`, with PATCH. */
  readonly patch: Call<"patch"> = (path, ...init) => this.#data("patch", path, init[0]);
  /** As `post`, with DELETE. */
  readonly delete: Call<"delete"> = (path, ...init) => this.#data("delete", path, init[0]);
  /** Sends a write and waits until it is mined, however long that takes; `signal` in `init` ends the wait. */
  readonly write: Write<"post"> = (path, ...init) => this.#mined("post", path, init[0]);
  /** As `write`, with PATCH. */
  readonly writePatch: Write<"patch"> = (path, ...init) => this.#mined("patch", path, init[0]);
  /** As `write`, with DELETE. */
  readonly writeDelete: Write<"delete"> = (path, ...init) => this.#mined("delete", path, init[0]);

  /** Mails a code to sign in with. */
  async sendCode(email: string): Promise<void> {
    await this.post("/oauth/code", { body: { email } });
  }

  /** Signs in with the mailed code; the client has the token from now on. */
  async logIn(email: string, code: string): Promise<Schema<"LogInResponse">> {
    const answer = await this.post("/oauth/login", { body: { email, code } });
    this.#credentials.token = answer.token;
    return answer;
  }

  /** Makes an API key for the signed-in artist; the client uses it from now on. It is shown this once. */
  async createApiKey(name?: string): Promise<string> {
    const { apiKey } = await this.post("/artists/api-keys", { body: name === undefined ? {} : { name } });
    this.#credentials.apiKey = apiKey;
    return apiKey;
  }

  /** Stores a picture, film, sound, model, PDF or text of up to 2 GiB: `uri` is its name for metadata and moments. */
  upload(file: UploadContent, options: UploadOptions = {}): Promise<Schema<"StoredMedia">> {
    return upload(this, this.#sendPart, file, options);
  }

  /** Uploads a file and publishes it as a moment; answers once that is mined. */
  publish(file: UploadContent, options: PublishOptions): Promise<Published> {
    return publish(this, file, options);
  }

  /** The pages of a list, from the asked one on. */
  async *pages<Path extends PathsWithMethod<paths, "get">>(
    path: Path,
    ...init: Arguments<Init<Path, "get">>
  ): AsyncGenerator<Data<Path, "get">, void, undefined> {
    let options: Record<string, unknown> | undefined = { ...(init[0] as object | undefined) };
    while (options) {
      const { data, response } = await this.#call("get", path, options);
      yield data as Data<Path, "get">;
      options = next(options, response.headers.get("link"));
    }
  }

  /** The rows of a list, page after page: `for await (const moment of moments.each("/timeline"))`. */
  async *each<Path extends PathsWithMethod<paths, "get">>(
    path: Path,
    ...init: Arguments<Init<Path, "get">>
  ): AsyncGenerator<Row<Data<Path, "get">>, void, undefined> {
    for await (const page of this.pages(path, ...init)) {
      const rows = Object.values(page as Record<string, unknown>).find((value) => Array.isArray(value));
      yield* (rows ?? []) as Row<Data<Path, "get">>[];
    }
  }

  /** Waits until a transaction is mined; throws {@link TransactionFailedError} if it failed. */
  async waitForTransaction(id: string, options: { signal?: AbortSignal; interval?: number } = {}): Promise<Schema<"Transaction">> {
    const { signal, interval = 2 } = options;
    for (;;) {
      const transaction = await this.get("/transactions/{id}", { params: { path: { id } }, ...(signal && { signal }) });
      if (transaction.status === "mined") return transaction;
      if (transaction.status !== "queued" && transaction.status !== "sent") throw new TransactionFailedError(transaction);
      await sleep(interval, signal);
    }
  }

  async #mined<Answer>(method: string, path: string, init: unknown): Promise<Answer> {
    const given = (init ?? {}) as { headers?: HeadersInit; signal?: AbortSignal };
    const headers = new Headers(given.headers);
    // The same request under the same key is answered with what became of it.
    if (!headers.has("idempotency-key")) headers.set("idempotency-key", crypto.randomUUID());
    for (;;) {
      let wait: number;
      try {
        const { data, response } = await this.#call(method, path, { ...given, headers });
        if (response.status !== 202) return data as Answer;
        wait = Number(response.headers.get("retry-after") ?? 2);
      } catch (error) {
        // The first request with this key still runs: its answer was lost on the way.
        if (!(error instanceof ConflictError) || error.retryAfter === undefined) throw error;
        wait = error.retryAfter;
      }
      await sleep(wait, given.signal);
    }
  }

  async #data<Answer>(method: string, path: string, init: unknown): Promise<Answer> {
    return (await this.#call(method, path, init)).data as Answer;
  }

  #call(method: string, path: string, init: unknown): Promise<{ data?: unknown; response: Response }> {
    const request = this.raw.request as unknown as (method: string, path: string, init: unknown) => Promise<{ response: Response }>;
    return request(method, path, init);
  }
}

/** The options of the next page, which an answer's `Link` names. */
function next(options: Record<string, unknown>, link: string | null): Record<string, unknown> | undefined {
  const query = link && /<[^>?]*\?([^>]*)>;\s*rel="next"/.exec(link)?.[1];
  if (!query) return undefined;
  const params = (options["params"] ?? {}) as object;
  return { ...options, params: { ...params, query: Object.fromEntries(new URLSearchParams(query)) } };
}
