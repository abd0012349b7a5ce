// Writes one line of JSON for each test as it ends: what `tests/report` tells of.

import { relative } from "node:path";

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type !== "test:complete" || data.details.type === "suite") continue;
    const { passed, duration_ms, error } = data.details;
    // A file is told of only where it failed apart from its tests, as one that can't be loaded.
    const isFile = data.name === data.file;
    if (isFile && (passed || error.failureType === "subtestsFailed")) continue;
    const file = data.file ? relative(process.cwd(), data.file) : "";
    const output = passed ? "" : String(error?.cause?.stack ?? error?.cause ?? error?.stack ?? error);
    yield `${JSON.stringify({ group: file, name: isFile ? "the file" : data.name, passed, seconds: duration_ms / 1000, ended: Date.now() / 1000, output })}\n`;
  }
}
