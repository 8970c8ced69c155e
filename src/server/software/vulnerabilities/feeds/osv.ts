// Advisories of distributions and package registries, in the format of OSV: a zip archive with a file per advisory.
import type { ZipFile } from "yauzl";
import { messageOf } from "../../../../text/error-message.ts";
import { isRecord, listIn } from "../../../../text/record.ts";
import { type PackageRecord, packageKey } from "../reference/records.ts";
import type { Entry } from "../reference/table-file.ts";
import { isCve, isShort } from "./cve.ts";
import { FeedError } from "./errors.ts";
import { Tally } from "./tally.ts";

const ENTRIES_MAX = 2_000_000;
const ADVISORY_MAX = 32 * 1024 * 1024;
/** All advisories of the largest archive have some gigabytes. */
const TOTAL_MAX = 64 * 1024 * 1024 * 1024;

/** Reads the archive at the path. Reports compressed bytes that were read. */
export async function* osvEntries(
  path: string,
  progress: (bytes: number) => void,
  tally: Tally = new Tally(),
): AsyncGenerator<Entry, void, undefined> {
  const { openPromise } = await import("yauzl");
  let archive: ZipFile;
  try {
    archive = await openPromise(path);
  } catch (error) {
    throw new FeedError(`the archive cannot be read: ${messageOf(error)}`);
  }
  if (archive.entryCount > ENTRIES_MAX) throw new FeedError(`the archive has more than ${ENTRIES_MAX} files`);
  let total = 0;
  try {
    for await (const entry of archive.eachEntry()) {
      // Reports of malicious packages have no CVE.
      if (!entry.fileName.endsWith(".json") || entry.fileName.startsWith("MAL-")) continue;
      total += entry.uncompressedSize;
      if (entry.uncompressedSize > ADVISORY_MAX || total > TOTAL_MAX)
        throw new FeedError(`${entry.fileName} is too large`);
      const parts: Buffer[] = [];
      for await (const part of await archive.openReadStreamPromise(entry)) parts.push(part as Buffer);
      progress(entry.compressedSize);
      const advisory = parsed(parts);
      if (tally.note(isRecord(advisory), entry.fileName)) yield* advisoryEntries(advisory);
    }
  } catch (error) {
    if (error instanceof FeedError) throw error;
    throw new FeedError(`the archive is damaged: ${messageOf(error)}`);
  } finally {
    if (archive.isOpen) archive.close();
  }
}

/** Null: it is no JSON. */
function parsed(parts: readonly Buffer[]): unknown {
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    return null;
  }
}

export function* advisoryEntries(advisory: unknown): Generator<Entry, void, undefined> {
  if (!isRecord(advisory) || typeof advisory.withdrawn === "string") return;
  const cves = cvesOf(advisory);
  if (cves.length === 0) return;
  for (const affected of listIn(advisory.affected)) {
    if (!isRecord(affected) || !isRecord(affected.package)) continue;
    const { ecosystem, name } = affected.package;
    const system = typeof ecosystem === "string" ? ecosystemOf(ecosystem) : null;
    if (system === null || typeof name !== "string" || !isShort(name)) continue;
    const ranges = rangesOf(affected.ranges);
    const versions = listIn(affected.versions).filter(isVersion);
    if (ranges.length === 0 && versions.length === 0) continue;
    const value: PackageRecord = { cves, ranges, ...(ranges.length === 0 ? { versions } : {}) };
    const packageName = nameIn(system, name);
    yield { key: packageKey(system, packageName), value };
    for (const [binary, fixed] of binariesOf(affected.ecosystem_specific))
      if (binary !== packageName)
        yield {
          key: packageKey(system, binary),
          value: fixed === null ? value : { ...value, ranges: withFix(ranges, fixed) },
        };
  }
}

const isVersion = (value: unknown): value is string => typeof value === "string" && isShort(value);

/** Names of Python packages are the same in any spelling (PEP 503). */
const nameIn = (ecosystem: string, name: string): string =>
  ecosystem === "PyPI" ? name.toLowerCase().replaceAll(/[-_.]+/g, "-") : name;

function cvesOf({ id, aliases, upstream, related }: Record<string, unknown>): string[] {
  const cves = [id, ...listIn(aliases), ...listIn(upstream)].filter(isCve);
  return [...new Set(cves.length > 0 ? cves : listIn(related).filter(isCve))];
}

/** The ecosystem with the release that hosts report, or null if no host can be matched with it. */
export function ecosystemOf(ecosystem: string): string | null {
  const [name = "", ...rest] = ecosystem.split(":");
  if (name === "Ubuntu") return /^\d+\.\d+$/.test(rest[0] ?? "") ? `Ubuntu:${rest[0]}` : null;
  if (name === "Alpine") return /^v\d+\.\d+$/.test(rest[0] ?? "") ? `Alpine:${rest[0]}` : null;
  if (name === "Red Hat")
    return rest[0] === "enterprise_linux" && /^\d+$/.test(rest[1] ?? "") ? `Red Hat:${rest[1]}` : null;
  if (name === "Debian" || name === "Rocky Linux" || name === "AlmaLinux")
    return /^\d+$/.test(rest[0] ?? "") ? `${name}:${rest[0]}` : null;
  return rest.length === 0 && (name === "PyPI" || name === "npm") ? name : null;
}

type Range = PackageRecord["ranges"][number];

function rangesOf(ranges: unknown): Range[] {
  const collected: Range[] = [];
  for (const range of listIn(ranges)) {
    if (!isRecord(range) || (range.type !== "ECOSYSTEM" && range.type !== "SEMVER")) continue;
    let introduced: string | null = null;
    const events = listIn(range.events).filter(isRecord);
    // Without one of its ends, a range would say something else.
    if (events.some((event) => Object.values(event).some((text) => typeof text === "string" && !isShort(text))))
      continue;
    for (const event of events) {
      if (typeof event.introduced === "string") {
        if (introduced !== null) collected.push([introduced, null, null]);
        introduced = event.introduced;
      } else if (introduced !== null && typeof event.fixed === "string") {
        collected.push([introduced, event.fixed, null]);
        introduced = null;
      } else if (introduced !== null && typeof event.last_affected === "string") {
        collected.push([introduced, null, event.last_affected]);
        introduced = null;
      }
    }
    if (introduced !== null) collected.push([introduced, null, null]);
  }
  return collected;
}

/** Binary packages of a source package, with the version that has the fix: Ubuntu lists them. */
function binariesOf(specific: unknown): [name: string, fixed: string | null][] {
  if (!isRecord(specific)) return [];
  return listIn(specific.binaries)
    .flatMap((binary): [string, string | null][] => {
      if (!isRecord(binary)) return [];
      const { binary_name: name, binary_version: fixed } = binary;
      if (typeof name === "string") return [[name, typeof fixed === "string" ? fixed : null]];
      return Object.entries(binary).map(([key, value]) => [key, typeof value === "string" ? value : null]);
    })
    .filter(([name, fixed]) => isShort(name) && (fixed === null || isShort(fixed)));
}

const withFix = (ranges: readonly Range[], fixed: string): Range[] =>
  ranges.map((range) => (range[1] === null ? range : [range[0], fixed, null]));
