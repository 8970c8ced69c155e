import { hash } from "node:crypto";
import { appliesTo } from "../agent-protocol/detail-query.ts";
import { unixToIso } from "../agent-protocol/numbers.ts";
import { type DetailResults, okRows, type Row, text } from "../agent-protocol/rows.ts";
import { platformFamily } from "../core/platforms.ts";
import { softwareQueries } from "./queries.ts";

/** One software version on one host. */
export interface SoftwareEntry {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly extension_for: string;
  readonly extension_id: string;
  readonly bundle_identifier: string;
  readonly release: string;
  readonly vendor: string;
  readonly arch: string;
  readonly upgrade_code: string;
  readonly installed_paths: readonly string[];
  readonly last_opened_at: string | null;
}

export interface SoftwareChanges {
  /** Sources whose query succeeded: the host's entries of these are replaced, those of other sources kept. */
  readonly replaced: readonly string[];
  /** Unique, ordered by source, name and the other fields. */
  readonly entries: readonly SoftwareEntry[];
  /** `softwareIdentity` of each entry. */
  readonly identities: readonly string[];
}

export interface SoftwareContext {
  readonly platform: string;
  readonly platformLike?: string;
  /** Names of the host's stored deb packages, used if the results contain Python packages but no deb packages. */
  readonly knownDebNames?: ReadonlySet<string>;
}

type Identity = Omit<SoftwareEntry, "installed_paths" | "last_opened_at">;
type Found = { -readonly [K in keyof SoftwareEntry]: SoftwareEntry[K] };

const PATH_MAX = 4096;
type Columns = Readonly<Partial<Record<keyof Identity | "path", string>>>;

/** The meaningful columns of each source. Columns of the same name in other sources are ignored. */
const columns: Readonly<Record<string, Columns>> = {
  apps: { bundle_identifier: "bundle_identifier", path: "path" },
  rpm_packages: { release: "release", arch: "arch", vendor: "vendor" },
  programs: { vendor: "publisher", upgrade_code: "identifying_number", path: "install_location" },
  chrome_extensions: { extension_for: "browser_type", extension_id: "identifier", path: "path" },
  firefox_addons: { extension_id: "identifier", path: "path" },
  vscode_extensions: { vendor: "publisher", extension_id: "uuid", path: "path" },
};
const pathOnly: Columns = { path: "path" };

const column = (row: Row, name: string | undefined): string => (name === undefined ? "" : text(row, name));

function versionOf(row: Row, source: string): string {
  if (source !== "apps") return text(row, "version").trim();
  return text(row, "bundle_short_version").trim() || text(row, "bundle_version").trim();
}

function entryOf(row: Row, source: string): Found | null {
  const name = text(row, "name").trim();
  if (name === "") return null;
  const has = columns[source] ?? pathOnly;
  const bundle = column(row, has.bundle_identifier);
  // Shortcuts to programs in a virtual machine.
  if (bundle.startsWith("com.parallels.winapp")) return null;
  const path = has.path === undefined ? "" : text(row, has.path, PATH_MAX);
  return {
    name,
    version: versionOf(row, source),
    source,
    extension_for: source === "firefox_addons" ? "firefox" : column(row, has.extension_for),
    extension_id: column(row, has.extension_id),
    bundle_identifier: bundle,
    release: column(row, has.release),
    vendor: column(row, has.vendor),
    arch: column(row, has.arch),
    upgrade_code: column(row, has.upgrade_code),
    installed_paths: path === "" || path === "null" ? [] : [path],
    last_opened_at: source === "apps" ? unixToIso(row.last_opened_time) : null,
  };
}

// Stored text has no NUL characters, so the parts cannot run together.
export const softwareIdentity = (entry: Identity): string =>
  `${entry.source}\0${entry.name}\0${entry.version}\0${entry.extension_for}\0${entry.bundle_identifier}\0${entry.extension_id}\0${entry.release}\0${entry.arch}\0${entry.vendor}\0${entry.upgrade_code}`;

// 192 bits: short enough for an index, and collision-resistant against names chosen by a host.
const digest = (value: string): string => hash("sha256", value, "base64url").slice(0, 32);

/** Equal for entries of the same software version. */
export const softwareKey = (entry: Identity): string => digest(softwareIdentity(entry));

/** Equal for entries of the same software title. Apps are identified by their bundle identifier, not their name. */
export function titleKey(entry: Pick<Identity, "name" | "source" | "extension_for" | "bundle_identifier">): string {
  if (entry.source === "apps" && entry.bundle_identifier !== "") return digest(`apps\0\0${entry.bundle_identifier}`);
  return digest(`${entry.source}\0${entry.name}\0${entry.extension_for}`);
}

function merge(into: Found, entry: Found): void {
  const path = entry.installed_paths[0];
  if (path !== undefined && !into.installed_paths.includes(path))
    into.installed_paths = [...into.installed_paths, path];
  if (entry.last_opened_at !== null && (into.last_opened_at ?? "") < entry.last_opened_at)
    into.last_opened_at = entry.last_opened_at;
}

// On these platforms the system's Python packages are also listed as deb packages named `python3-<name>`.
const hasPythonDebs = (platform: string): boolean => platform === "ubuntu" || platform === "debian";

function debNames(results: DetailResults, known: ReadonlySet<string> | undefined): ReadonlySet<string> {
  const rows = okRows(results, "software_deb");
  if (rows === null) return known ?? new Set();
  return new Set(rows.map((row) => text(row, "name").trim()));
}

/** The software inventory from a set of results. */
export function softwareChanges(results: DetailResults, ctx: SoftwareContext): SoftwareChanges {
  const family = platformFamily(ctx.platform, ctx.platformLike);
  const replaced: string[] = [];
  const entries: SoftwareEntry[] = [];
  const identities: string[] = [];
  for (const query of softwareQueries) {
    const { name: key, source } = query;
    const rows = appliesTo(query, family) ? okRows(results, key) : null;
    if (rows === null) continue;
    replaced.push(source);
    const isPythonDeb = source === "python_packages" && hasPythonDebs(ctx.platform);
    const debs = isPythonDeb ? debNames(results, ctx.knownDebNames) : null;
    const found = new Map<string, Found>();
    for (const row of rows) {
      const entry = entryOf(row, source);
      if (entry === null) continue;
      if (debs !== null) {
        entry.name = `python3-${entry.name.toLowerCase()}`;
        if (debs.has(entry.name)) continue;
      }
      const same = softwareIdentity(entry);
      const first = found.get(same);
      if (first === undefined) found.set(same, entry);
      else merge(first, entry);
    }
    for (const same of [...found.keys()].sort()) {
      const entry = found.get(same)!;
      if (entry.installed_paths.length > 1) entry.installed_paths = [...entry.installed_paths].sort();
      entries.push(entry);
      identities.push(same);
    }
  }
  return { replaced, entries, identities };
}

// Increase after changing the rules above, so that unchanged results are parsed again.
const RULES = "1";

/**
 * A hash of the software results. While it equals that of the last ingest, parsing is skipped. "" if the results
 * contain no software. Sensitive to row order.
 */
export function softwareFingerprint(results: DetailResults, platform: string): string {
  let all = "";
  for (const { name: key } of softwareQueries) {
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
  return all === "" ? "" : hash("sha1", `${RULES}\x1d${platform}\x1d${all}`, "base64url");
}
