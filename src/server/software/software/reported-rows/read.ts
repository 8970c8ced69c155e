// What one row of software results means.

import { unixToIso } from "../../../platform/agent-protocol/numbers.ts";
import { type AgentRow, text } from "../../../platform/agent-protocol/rows.ts";
import { limit } from "../../../platform/core/limits.ts";

export interface SoftwareVersion {
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
  /** Follows from the name and version of the package, so it is not part of its identity. */
  readonly source_package: string;
}

/** A version as rows report it. Rows with the same text share one object. */
export interface ReportedVersion {
  readonly software: SoftwareVersion;
  /** `softwareIdentity` of the version. */
  readonly identity: string;
  /** The stored version, once it was looked up: faster than to find it by the identity. */
  stored: StoredVersion | null;
}

export interface StoredVersion {
  readonly id: number;
  readonly titleId: number;
  readonly name: string;
  readonly source: string;
  readonly usualPath: string;
  /** False after the version may have been deleted. */
  isKnown: boolean;
  /** The host's entries that contain the version, while they are collected, and its place among them. */
  markedBy: object | null;
  place: number;
}

/** A version on one host. */
export interface SoftwareEntry {
  readonly version: ReportedVersion;
  readonly installed_paths: readonly string[];
  readonly last_opened_at: string | null;
}

/** How the rows of a query are read. */
export interface RowRules {
  readonly source: string;
  /** The system also lists its Python packages as deb packages named `python3-<name>`. */
  readonly isPythonDeb: boolean;
}

export const softwarePath = limit({
  what: "path of software, before it is divided",
  max: 4096,
  unit: "characters",
  beyond: "The rest is cut off.",
});
type Columns = Readonly<Partial<Record<keyof SoftwareVersion | "path", string>>>;

/** The meaningful columns of each source. Columns of the same name in other sources are ignored. */
const columns: Readonly<Record<string, Columns>> = {
  apps: { bundle_identifier: "bundle_identifier", path: "path" },
  ios_apps: { bundle_identifier: "bundle_identifier" },
  ipados_apps: { bundle_identifier: "bundle_identifier" },
  android_apps: { bundle_identifier: "bundle_identifier" },
  deb_packages: { source_package: "source" },
  rpm_packages: { release: "release", arch: "arch", vendor: "vendor", source_package: "source" },
  pacman_packages: { arch: "arch" },
  apk_packages: { arch: "arch", source_package: "origin" },
  programs: { vendor: "publisher", upgrade_code: "identifying_number", path: "install_location" },
  chrome_extensions: { extension_for: "browser_type", extension_id: "identifier", path: "path" },
  firefox_addons: { extension_id: "identifier", path: "path" },
  vscode_extensions: { vendor: "publisher", extension_id: "uuid", path: "path" },
};
const pathOnly: Columns = { path: "path" };
export const columnsOf = (source: string): Columns => columns[source] ?? pathOnly;

const column = (row: AgentRow, name: string | undefined): string => (name === undefined ? "" : text(row, name));

function versionOf(row: AgentRow, source: string): string {
  if (source !== "apps") return text(row, "version").trim();
  return text(row, "bundle_short_version").trim() || text(row, "bundle_version").trim();
}

function softwareIn(row: AgentRow, { source, isPythonDeb }: RowRules): SoftwareVersion | null {
  const name = text(row, "name").trim();
  if (name === "") return null;
  const has = columnsOf(source);
  const bundle = column(row, has.bundle_identifier);
  // Shortcuts to programs in a virtual machine.
  if (bundle.startsWith("com.parallels.winapp")) return null;
  return {
    name: isPythonDeb ? `python3-${name.toLowerCase()}` : name,
    version: versionOf(row, source),
    source,
    extension_for: source === "firefox_addons" ? "firefox" : column(row, has.extension_for),
    extension_id: column(row, has.extension_id),
    bundle_identifier: bundle,
    release: column(row, has.release),
    vendor: column(row, has.vendor),
    arch: column(row, has.arch),
    upgrade_code: column(row, has.upgrade_code),
    source_package: column(row, has.source_package),
  };
}

// Stored text has no NUL characters, so the parts cannot run together.
export const softwareIdentity = (entry: SoftwareVersion): string =>
  `${entry.source}\0${entry.name}\0${entry.version}\0${entry.extension_for}\0${entry.bundle_identifier}\0${entry.extension_id}\0${entry.release}\0${entry.arch}\0${entry.vendor}\0${entry.upgrade_code}`;

export const pathsOf = (path: string): readonly string[] => (path === "" || path === "null" ? NO_PATHS : [path]);
const NO_PATHS: readonly string[] = [];

/** Null: the row is no software. */
export function readRow(row: AgentRow, rules: RowRules): SoftwareEntry | null {
  const software = softwareIn(row, rules);
  if (software === null) return null;
  const { path } = columnsOf(rules.source);
  return {
    version: { software, identity: softwareIdentity(software), stored: null },
    installed_paths: path === undefined ? NO_PATHS : pathsOf(text(row, path, softwarePath.max)),
    last_opened_at: rules.source === "apps" ? unixToIso(row[OPENED]) : null,
  };
}

export const OPENED = "last_opened_time";
