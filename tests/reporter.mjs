// Writes one line of JSON for each test as it ends: what `tests/report` tells of.

import { relative } from "node:path";

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type !== "test:complete" || data.details.type === "suite" || data.name === data.file) continue;
    const { passed, duration_ms, error } = data.details;
    const file = data.file ? relative(process.cwd(), data.file) : "";
    const output = passed ? "" : String(error?.cause?.stack ?? error?.cause ?? error?.stack ?? error);
    yield `${JSON.stringify({ group: file, name: data.name, passed, seconds: duration_ms / 1000, ended: Date.now() / 1000, output })}\n`;
  }
}
