import { hash } from "node:crypto";
import { appliesTo } from "../../platform/agent-protocol/detail-query.ts";
import { type DetailResults, okRows } from "../../platform/agent-protocol/rows.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { DistinctEntries } from "./distinct.ts";
import { deviceSources, softwareQueries } from "./queries.ts";
import { SoftwareRows } from "./reported-rows/cached.ts";
import {
  type ReportedVersion,
  type SoftwareEntry,
  type SoftwareVersion,
  type StoredVersion,
  softwareIdentity,
} from "./reported-rows/read.ts";

export interface SoftwareChanges {
  /** Sources whose query succeeded: the host's entries of these are replaced, those of other sources kept. */
  readonly replaced: readonly string[];
  /** One for each version (`softwareIdentity`). */
  readonly entries: readonly SoftwareEntry[];
  /** The stored version of each entry, if it is known. */
  readonly stored: readonly (StoredVersion | undefined)[];
}

export interface SoftwareContext {
  readonly platform: string;
  readonly platformLike?: string;
  /** Names of the host's stored deb packages, used if the results contain Python packages but no deb packages. */
  readonly knownDebNames?: ReadonlySet<string>;
  /** Rows of earlier results. */
  readonly rows?: SoftwareRows;
  /** The stored version, if it is known: the same object for all entries of a version. */
  readonly storedOf?: (version: ReportedVersion) => StoredVersion | undefined;
}

// 192 bits: short enough for an index, and collision-resistant against names chosen by a host.
const digest = (value: string): string => hash("sha256", value, "base64url").slice(0, 32);

/** Equal for entries of the same software version. */
export const softwareKey = (entry: SoftwareVersion): string => digest(softwareIdentity(entry));

const bundled: ReadonlySet<string> = new Set(["apps", ...deviceSources.map(({ source }) => source)]);

/** Equal for entries of the same software title. Apps are identified by their bundle identifier, not their name. */
export function titleKey(
  entry: Pick<SoftwareVersion, "name" | "source" | "extension_for" | "bundle_identifier">,
): string {
  if (bundled.has(entry.source) && entry.bundle_identifier !== "")
    return digest(`${entry.source}\0\0${entry.bundle_identifier}`);
  return digest(`${entry.source}\0${entry.name}\0${entry.extension_for}`);
}

// On these platforms the system's Python packages are also listed as deb packages.
const hasPythonDebs = (platform: string): boolean => platform === "ubuntu" || platform === "debian";

/** The software inventory from a set of results. */
export function softwareChanges(results: DetailResults, ctx: SoftwareContext): SoftwareChanges {
  const { rows: softwareRows = new SoftwareRows(), storedOf } = ctx;
  const family = platformFamily(ctx.platform, ctx.platformLike);
  const debRules = { source: "deb_packages", isPythonDeb: false };
  const debNames = (): ReadonlySet<string> => {
    const debs = softwareRows.entriesOf(results.get("software_deb"), debRules);
    if (debs === null) return ctx.knownDebNames ?? new Set();
    return new Set(debs.map(({ version }) => version.software.name));
  };
  const replaced: string[] = [];
  const distinct = new DistinctEntries();
  const applying = [
    ...softwareQueries.filter((query) => appliesTo(query, family)),
    ...deviceSources.filter(({ platform }) => platform === ctx.platform),
  ];
  for (const { name, source } of applying) {
    const isPythonDeb = source === "python_packages" && hasPythonDebs(ctx.platform);
    const rows = softwareRows.entriesOf(results.get(name), { source, isPythonDeb });
    if (rows === null) continue;
    replaced.push(source);
    const debs = isPythonDeb && rows.length > 0 ? debNames() : null;
    for (const entry of rows)
      if (!debs?.has(entry.version.software.name)) distinct.add(entry, storedOf?.(entry.version));
  }
  distinct.end();
  return { replaced, entries: distinct.entries, stored: distinct.stored };
}

// Increase after changing the rules above, so that unchanged results are parsed again.
const RULES_VERSION = "1";

/**
 * A hash of the software results. While it equals that of the last ingest, parsing is skipped. "" if the results
 * contain no software. Sensitive to row order.
 */
export function softwareFingerprint(results: DetailResults, platform: string): string {
  let all = "";
  for (const { name: key } of [...softwareQueries, ...deviceSources]) {
    const unread = results.get(key)?.unread;
    if (unread !== undefined) {
      all += `${key}\x1d\x1d${hash("sha1", unread, "base64url")}\x1e`;
      continue;
    }
    const rows = okRows(results, key);
    if (rows === null) continue;
    all += `${key}\x1d${rows[0] === undefined ? "" : Object.keys(rows[0]).join("\x1f")}\x1d`;
    for (const row of rows) {
      for (const name in row) {
        const cell = row[name];
        if (typeof cell === "string") all += cell;
        else if (typeof cell === "number" || typeof cell === "boolean") all += String(cell);
        all += "\x1f";
      }
      all += "\x1e";
    }
  }
  return all === "" ? "" : hash("sha1", `${RULES_VERSION}\x1d${platform}\x1d${all}`, "base64url");
}
