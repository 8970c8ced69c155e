// Microsoft's monthly documents (CVRF 3, as JSON): which build of Windows fixes which CVE.
import { isRecord, listIn } from "../../../../text/record.ts";
import { type BuildRecord, buildKey } from "../reference/records.ts";
import type { Entry } from "../reference/table-file.ts";
import { isCve } from "./cve.ts";
import { FeedError } from "./errors.ts";

const DOCUMENT_MAX = 64 * 1024 * 1024;
const VENDOR_FIX = 2;
const BUILD = /^(\d+\.\d+\.\d+)\.(\d+)$/;
/**
 * Releases that are serviced together have the same revisions. The documents often give the fix of such a release with
 * the build of its neighbour: 10.0.22621.3155 for Windows 11 23H2, which reports 10.0.22631.3155.
 */
const serviced: readonly (readonly { readonly release: RegExp; readonly build: string }[])[] = [
  [
    { release: /^Windows 10 Version 2004\b/i, build: "10.0.19041" },
    { release: /^Windows 10 Version 20H2\b/i, build: "10.0.19042" },
    { release: /^Windows 10 Version 21H1\b/i, build: "10.0.19043" },
    { release: /^Windows 10 Version 21H2\b/i, build: "10.0.19044" },
    { release: /^Windows 10 Version 22H2\b/i, build: "10.0.19045" },
  ],
  [
    { release: /^Windows 11 Version 22H2\b/i, build: "10.0.22621" },
    { release: /^Windows 11 Version 23H2\b/i, build: "10.0.22631" },
  ],
  [
    { release: /^Windows 11 Version 24H2\b/i, build: "10.0.26100" },
    { release: /^Windows 11 Version 25H2\b/i, build: "10.0.26200" },
  ],
];

/** The build with the fix as hosts with this product report it. */
function buildOf(product: string, fixed: string): { readonly build: string; readonly fixed: string } | null {
  const [, build, revision] = BUILD.exec(fixed) ?? [];
  if (build === undefined) return null;
  const neighbours = serviced.find((group) => group.some((system) => system.build === build)) ?? [];
  const reportedBuild = neighbours.find(({ release }) => release.test(product))?.build ?? build;
  return { build: reportedBuild, fixed: `${reportedBuild}.${revision}` };
}

/** A document has some megabytes, and products at its start, so it is read as a whole. */
export async function* msrcEntries(content: AsyncIterable<Buffer>): AsyncGenerator<Entry, void, undefined> {
  const document = await readDocument(content);
  const tree = isRecord(document.ProductTree) ? document.ProductTree : {};
  const names = new Map<string, string>();
  for (const product of listIn(tree.FullProductName))
    if (isRecord(product) && typeof product.ProductID === "string" && typeof product.Value === "string")
      names.set(product.ProductID, product.Value);
  for (const vulnerability of listIn(document.Vulnerability))
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
  for (const remediation of listIn(Remediations)) {
    if (!isRecord(remediation) || remediation.Type !== VENDOR_FIX) continue;
    const named = typeof remediation.FixedBuild === "string" ? remediation.FixedBuild.trim() : "";
    for (const id of listIn(remediation.ProductID)) {
      const name = typeof id === "string" ? names.get(id) : undefined;
      if (name === undefined || !name.startsWith("Windows")) continue;
      const parts = buildOf(name, named);
      if (parts === null) continue;
      const { build, fixed } = parts;
      const key = buildKey(build, name.includes("Server"));
      if (written.has(`${key} ${fixed}`)) continue;
      written.add(`${key} ${fixed}`);
      const value: BuildRecord = { cve, fixed };
      yield { key, value };
    }
  }
}
