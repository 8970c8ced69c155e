// Microsoft's monthly documents (CVRF 3, as JSON): which build of Windows fixes which CVE.
import { isRecord } from "../../../text/record.ts";
import { type BuildRecord, buildKey } from "../reference/records.ts";
import type { Entry } from "../reference/table-file.ts";
import { isCve } from "./cve.ts";
import { FeedError } from "./errors.ts";

const DOCUMENT_MAX = 64 * 1024 * 1024;
const VENDOR_FIX = 2;
const BUILD = /^(\d+\.\d+\.\d+)\.\d+$/;
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A document has some megabytes, and products at its start, so it is read as a whole. */
export async function* msrcEntries(content: AsyncIterable<Buffer>): AsyncGenerator<Entry, void, undefined> {
  const document = await readDocument(content);
  const tree = isRecord(document.ProductTree) ? document.ProductTree : {};
  const names = new Map<string, string>();
  for (const product of listOf(tree.FullProductName))
    if (isRecord(product) && typeof product.ProductID === "string" && typeof product.Value === "string")
      names.set(product.ProductID, product.Value);
  for (const vulnerability of listOf(document.Vulnerability))
    if (isRecord(vulnerability) && isCve(vulnerability.CVE)) yield* fixesOf(vulnerability.CVE, vulnerability, names);
}

async function readDocument(content: AsyncIterable<Buffer>): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > DOCUMENT_MAX) throw new FeedError(`the document is larger than ${DOCUMENT_MAX} bytes`);
    parts.push(part);
  }
  let document: unknown;
  try {
    document = JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    throw new FeedError("the document is not valid JSON");
  }
  if (!isRecord(document) || !Array.isArray(document.Vulnerability))
    throw new FeedError('the document has no list "Vulnerability"');
  return document;
}

function* fixesOf(
  cve: string,
  { Remediations }: Record<string, unknown>,
  names: ReadonlyMap<string, string>,
): Generator<Entry, void, undefined> {
  const written = new Set<string>();
  for (const remediation of listOf(Remediations)) {
    if (!isRecord(remediation) || remediation.Type !== VENDOR_FIX) continue;
    const fixed = typeof remediation.FixedBuild === "string" ? remediation.FixedBuild.trim() : "";
    const build = BUILD.exec(fixed)?.[1];
    if (build === undefined) continue;
    for (const id of listOf(remediation.ProductID)) {
      const name = typeof id === "string" ? names.get(id) : undefined;
      if (name === undefined || !name.startsWith("Windows")) continue;
      const key = buildKey(build, name.includes("Server"));
      if (written.has(`${key} ${fixed}`)) continue;
      written.add(`${key} ${fixed}`);
      const value: BuildRecord = { cve, fixed };
      yield { key, value };
    }
  }
}
