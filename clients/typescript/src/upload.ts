import type { Moments, Schema } from "./client.js";
import { ConflictError } from "./errors.js";
import { sleep } from "./retry.js";
import type { SendPart } from "./send-part.js";

/** What can be uploaded: a file of a form, other bytes of a browser or of `openAsBlob` in Node, or an array of bytes. */
export type UploadContent = Blob | Uint8Array;

/** How far an upload is. */
export interface UploadProgress {
  /** First the bytes are sent, then the service hashes them. */
  step: "sending" | "hashing";
  /** Bytes of this step that are done. */
  done: number;
  /** Bytes in all. */
  size: number;
}

/** How a file is uploaded. */
export interface UploadOptions {
  /** Its type. Unless given it is the file's own, or the service finds it in the content, which it can't for a text. */
  contentType?: Schema<"UploadType">;
  /** Is told how far it is: in browsers as bytes leave, elsewhere after each part. */
  onProgress?: (progress: UploadProgress) => void;
  /** Ends it. */
  signal?: AbortSignal;
}

/** Uploads a file part by part, and waits until the service has hashed it. */
export async function upload(
  moments: Moments,
  send: SendPart,
  content: UploadContent,
  options: UploadOptions = {},
): Promise<Schema<"StoredMedia">> {
  const { onProgress, signal } = options;
  const file = content instanceof Uint8Array ? new Blob([content as Uint8Array<ArrayBuffer>]) : content;
  const { size } = file;
  const contentType = options.contentType ?? ((file.type || "application/octet-stream") as Schema<"UploadType">);
  const ending = signal && { signal };
  const { uploadId, parts } = await moments.post("/uploads", { body: { contentType, size }, ...ending });
  onProgress?.({ step: "sending", done: 0, size });
  for (const part of parts) {
    signal?.throwIfAborted();
    const tell = (done: number) => onProgress?.({ step: "sending", done: part.offset + done, size });
    await send(part, file.slice(part.offset, part.offset + part.size), tell, signal);
    tell(part.size);
  }
  for (;;) {
    let wait = 1;
    try {
      const answer = await moments.post("/uploads/{id}/complete", { params: { path: { id: uploadId } }, ...ending });
      if ("uri" in answer) return answer;
      onProgress?.({ step: "hashing", done: answer.hashed, size });
    } catch (error) {
      // A request whose answer was lost still hashes it.
      if (!(error instanceof ConflictError) || error.retryAfter === undefined) throw error;
      wait = error.retryAfter;
    }
    await sleep(wait, signal);
  }
}
