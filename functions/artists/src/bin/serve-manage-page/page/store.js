// Files go to the bucket part by part. What has arrived is remembered in this tab: after a reload, the same file goes on where
// it was.

import { Refusal, call, keep, kept, pause, wrong } from "./kit.js";

const TRIES = 4;
const UPLOADS = "moments_uploads";

/** Types of files that browsers don't name. */
const TYPES = { heic: "image/heic", heif: "image/heif", mov: "video/quicktime", m4v: "video/mp4", glb: "model/gltf-binary", flac: "audio/flac", md: "text/markdown", avif: "image/avif" };

export const typeOf = ({ name, type }) => type || TYPES[name.split(".").at(-1).toLowerCase()] || "application/octet-stream";

/** Sends a part; `tell` is told how much of it has arrived. */
function put(url, part, signal, tell) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    request.upload.onprogress = ({ loaded }) => tell(loaded);
    request.onloadend = () => {
      signal.removeEventListener("abort", stop);
      if (request.status >= 200 && request.status < 300) return done();
      const refused = request.status >= 400 && request.status < 500;
      fail(new Refusal(request.status, refused ? "The storage refused a part of the file: begin again." : "The connection broke: try again."));
    };
    signal.addEventListener("abort", stop);
    request.open("PUT", url);
    request.send(part);
  });
}

async function putPatiently(url, part, signal, tell) {
  for (let attempt = 1; ; attempt++) {
    // It may have been stopped while the service was asked where the part goes, or in the pause.
    signal.throwIfAborted();
    try {
      return await put(url, part, signal, tell);
    } catch (refusal) {
      signal.throwIfAborted();
      if (refusal.status >= 400 && refusal.status < 500 || attempt === TRIES) throw refusal;
    }
    tell(0);
    await pause(attempt * 1000);
  }
}

const idOf = ({ name, size, lastModified }) => `${name}/${size}/${lastModified}`;

function note(file, upload) {
  keep(UPLOADS, { ...kept(UPLOADS), [idOf(file)]: upload });
  return upload;
}

/** The upload of a file: the one that an earlier page began, if it can still be gone on with. */
async function begun(file) {
  const found = kept(UPLOADS)?.[idOf(file)];
  if (found && (found.media || found.until > Date.now())) return found;
  const { uploadId, parts, expiresAt } = await call("POST", "uploads", { contentType: typeOf(file), size: file.size });
  return note(file, { uploadId, parts, until: Date.parse(expiresAt), arrived: 0 });
}

/** Stores a file once, however often it is published; `tell` is told how far it is. Throws what the signal was aborted with. */
export async function store(file, signal, field, tell = () => {}) {
  let upload;
  try {
    upload = await begun(file);
    if (upload.media) return upload.media;
    for (const [index, { url, offset, size }] of upload.parts.entries()) {
      if (index < upload.arrived) continue;
      await putPatiently(url, file.slice(offset, offset + size), signal, (arrived) => tell("Storing", offset + arrived, file.size));
      upload = note(file, { ...upload, arrived: index + 1 });
    }
    let media;
    while (!media?.uri) {
      signal.throwIfAborted();
      if (media) await pause(500);
      tell("Looking at", media?.hashed ?? 0, file.size);
      media = await call("POST", `uploads/${upload.uploadId}/complete`);
    }
    note(file, { media });
    return media;
  } catch (refusal) {
    // What was refused is begun anew.
    if (refusal.status >= 400 && refusal.status < 500) note(file, undefined);
    // What the service finds in a file is said at the file.
    throw refusal.status === 422 ? wrong(field, refusal.message.replace(/\.$/, "")) : refusal;
  }
}
