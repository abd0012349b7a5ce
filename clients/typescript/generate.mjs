// Makes the client's types from the published document, and the list of operations that a retry doesn't repeat.

import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const source = new URL("../../openapi.json", import.meta.url);
const folder = new URL("src/", import.meta.url);
const notice = "// Made by generate.mjs from openapi.json.\n\n";
const document = JSON.parse(readFileSync(source, "utf8"));
const { paths } = document;
// The client makes the key itself, so nobody has to give it.
for (const parameter of Object.values(document.components.parameters)) {
  if (parameter.name === "Idempotency-Key") parameter.required = false;
}
writeFileSync(new URL("schema.ts", folder), notice + astToString(await openapiTS(document, { defaultNonNullable: false })));

const writes = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([, operation]) => operation.parameters?.some((parameter) => parameter.$ref?.endsWith("IdempotencyKey")))
    .map(([method]) => `${method.toUpperCase()} ${path}`),
);
const list = writes.map((write) => `  ${JSON.stringify(write)},\n`).join("");
writeFileSync(new URL("writes.ts", folder), `${notice}/** Operations that take an \`Idempotency-Key\`. */\nexport const WRITES: ReadonlySet<string> = new Set([\n${list}]);\n`);
