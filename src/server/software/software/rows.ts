// What one row of software results means.

import { isRecord } from "../../../text/record.ts";
import { unixToIso } from "../../platform/agent-protocol/numbers.ts";
import { type AgentRow, clip, type DetailResult, text } from "../../platform/agent-protocol/rows.ts";
import { limit } from "../../platform/core/limits.ts";

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
interface RowRules {
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
const columnsOf = (source: string): Columns => columns[source] ?? pathOnly;

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

const pathsOf = (path: string): readonly string[] => (path === "" || path === "null" ? NO_PATHS : [path]);
const NO_PATHS: readonly string[] = [];

/** Null: the row is no software. */
function read(row: AgentRow, rules: RowRules): SoftwareEntry | null {
  const software = softwareIn(row, rules);
  if (software === null) return null;
  const { path } = columnsOf(rules.source);
  return {
    version: { software, identity: softwareIdentity(software), stored: null },
    installed_paths: path === undefined ? NO_PATHS : pathsOf(text(row, path, softwarePath.max)),
    last_opened_at: rules.source === "apps" ? unixToIso(row[OPENED]) : null,
  };
}

const OPENED = "last_opened_time";

/** Longer texts are not remembered. */
const TEXT_MAX = 1_000;
/** The rows remembered are at most twice as many. */
const ROWS_MAX = 20_000;

/** The cells that differ from host to host: where a version is installed, and when it was last opened. */
interface HostCells {
  path: string;
  opened: string;
}
type HostCell = keyof HostCells;

/** The text of a row without its own cells. */
interface SeparatedCells {
  readonly text: string;
  /** The parts of the text between its own cells, which are in the order of `cells`. */
  readonly parts: readonly string[];
  readonly cells: readonly HostCell[];
  readonly hostCells: HostCells;
}

/** What rows mean that have the same text except for their own cells. */
class CachedRow {
  readonly entry: SoftwareEntry | null;
  readonly text: string;
  readonly #parts: readonly string[];
  readonly #cells: readonly HostCell[];
  readonly #hasPath: boolean;
  readonly #hasOpened: boolean;
  /** The rows that followed this one most recently. */
  next: CachedRow | null = null;
  other: CachedRow | null = null;
  /** The period in which the row was last used. */
  period = -1;

  constructor(entry: SoftwareEntry | null, { text, parts, cells }: SeparatedCells) {
    this.entry = entry;
    this.text = copied(text);
    this.#parts = parts.length === 1 ? [this.text] : parts.map(copied);
    this.#cells = cells;
    this.#hasPath = cells.includes("path");
    this.#hasOpened = cells.includes("opened");
  }

  /** The end of this row in a text, or -1 if there is another one at this place. Reads the row's own cells. */
  endIn(text: string, from: number, hostCells: HostCells): number {
    let at = from;
    for (let i = 0; ; i++) {
      const part = this.#parts[i]!;
      const start = at;
      at += part.length;
      // Several times as fast as startsWith().
      if (text.slice(start, at) !== part) return -1;
      const cell = this.#cells[i];
      if (cell === undefined) return at;
      const end = text.indexOf('"', at);
      const value = text.slice(at, end);
      if (end < 0 || UNUSUAL.test(value)) return -1;
      hostCells[cell] = value;
      at = end;
    }
  }

  entryOf({ path, opened }: HostCells): SoftwareEntry | null {
    const { entry } = this;
    const hasPath = this.#hasPath;
    const hasOpened = this.#hasOpened;
    if (entry === null || this.#cells.length === 0) return entry;
    return {
      version: entry.version,
      installed_paths: hasPath ? pathsOf(clip(path, softwarePath.max)) : entry.installed_paths,
      last_opened_at: hasOpened ? unixToIso(opened) : entry.last_opened_at,
    };
  }

  follow(row: CachedRow): void {
    if (this.next === row) return;
    this.other = this.next;
    this.next = row;
  }

  /** Rows that are forgotten must not keep others in memory. */
  leave(): void {
    this.next = null;
    this.other = null;
  }
}

/** The rows of one query. */
interface Kind {
  readonly rules: RowRules;
  readonly hasPath: boolean;
  readonly hasOpened: boolean;
  /** Before the first row. */
  readonly start: CachedRow;
  /** By the text without own cells. */
  used: Map<string, CachedRow>;
  before: Map<string, CachedRow>;
}

/**
 * Remembers what rows mean by their JSON text, because most hosts have the same software. Rows that were not needed for
 * long are forgotten. Most hosts also report their software in the same order. So the text is first compared with the
 * rows that followed the previous one on other hosts, which is faster than to look for the row's end, and for its text
 * among all.
 */
export class SoftwareRows {
  readonly #kinds = new Map<string, Kind>();
  #period = 0;
  #room = ROWS_MAX;

  /** The software in a query's result; null if the query failed. */
  entriesOf(result: DetailResult | undefined, rules: RowRules): readonly SoftwareEntry[] | null {
    const entries = result?.unread === undefined ? null : this.#read(result.unread, this.#kind(rules), result.maxRows);
    if (entries) return entries;
    return result?.ok ? result.rows.flatMap((row) => read(row, rules) ?? []) : null;
  }

  #kind(rules: RowRules): Kind {
    const name = rules.isPythonDeb ? `deb ${rules.source}` : rules.source;
    let kind = this.#kinds.get(name);
    if (kind === undefined) {
      const hasPath = columnsOf(rules.source).path === "path";
      const start = new CachedRow(null, plain(""));
      kind = { rules, hasPath, hasOpened: rules.source === "apps", start, used: new Map(), before: new Map() };
      this.#kinds.set(name, kind);
    }
    return kind;
  }

  /** Null unless the text consists of adjacent objects: then it has to be parsed. */
  #read(text: string, kind: Kind, maxRows = Number.POSITIVE_INFINITY): readonly SoftwareEntry[] | null {
    if (!text.startsWith("[{") || !text.endsWith("}]")) return null;
    const entries: SoftwareEntry[] = [];
    const last = text.length - 1;
    const hostCells: HostCells = { path: "", opened: "" };
    let row = kind.start;
    for (let at = 1, count = 1; ; count++) {
      if (count > maxRows) return null;
      let following = row.next;
      let end = following?.endIn(text, at, hostCells) ?? -1;
      if (end < 0) {
        following = row.other;
        end = following?.endIn(text, at, hostCells) ?? -1;
      }
      if (following === null || end < 0) {
        const separatorAt = text.indexOf("},{", at);
        end = separatorAt < 0 ? last : separatorAt + 1;
        const separated = separate(text.slice(at, end), kind);
        following = this.#cachedRow(separated, kind);
        // The text is no object.
        if (following === null) return null;
        hostCells.path = separated.hostCells.path;
        hostCells.opened = separated.hostCells.opened;
      }
      if (following.text.length <= TEXT_MAX) {
        if (following.period !== this.#period) this.#remember(following, kind);
        row.follow(following);
      }
      row = following;
      const entry = row.entryOf(hostCells);
      if (entry !== null) entries.push(entry);
      if (end === last) return entries;
      if (!text.startsWith(",{", end)) return null;
      at = end + 1;
    }
  }

  /** Null: the text is no object. */
  #cachedRow(separated: SeparatedCells, kind: Kind): CachedRow | null {
    const { text } = separated;
    const cached = kind.used.get(text) ?? kind.before.get(text);
    if (cached !== undefined) return cached;
    const row = objectIn(text);
    return row === null ? null : new CachedRow(read(row, kind.rules), separated);
  }

  #remember(row: CachedRow, kind: Kind): void {
    if (this.#room-- <= 0) this.#nextPeriod();
    row.period = this.#period;
    kind.used.get(row.text)?.leave();
    kind.used.set(row.text, row);
  }

  /** Forgets the rows that were not used in this period and the one before. */
  #nextPeriod(): void {
    this.#period++;
    this.#room = ROWS_MAX;
    for (const kind of this.#kinds.values()) {
      for (const row of kind.before.values()) if (row.period < this.#period - 1) row.leave();
      kind.before = kind.used;
      kind.used = new Map();
    }
  }
}

/** A copy, because a part of a text keeps the whole of it in memory. */
const copied = (text: string): string => Buffer.from(text).toString();

const plain = (text: string): SeparatedCells => ({
  text,
  parts: [text],
  cells: [],
  hostCells: { path: "", opened: "" },
});

/** Separates a row's own cells from its text. */
function separate(row: string, { hasPath, hasOpened }: Kind): SeparatedCells {
  const path = hasPath ? placeOf(row, "path") : null;
  const opened = hasOpened ? placeOf(row, OPENED) : null;
  if (path === null && opened === null) return plain(row);
  const hostCells: HostCells = { path: "", opened: "" };
  const places: [HostCell, Place][] = [];
  if (path !== null) places.push(["path", path]);
  if (opened !== null) places.push(["opened", opened]);
  places.sort(([, a], [, b]) => a.start - b.start);
  const parts: string[] = [];
  let at = 0;
  for (const [cell, { start, end }] of places) {
    parts.push(row.slice(at, start));
    hostCells[cell] = row.slice(start, end);
    at = end;
  }
  parts.push(row.slice(at));
  return { text: parts.join(""), parts, cells: places.map(([cell]) => cell), hostCells };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

// Control characters are not allowed in JSON text, and escapes would have to be read.
const UNUSUAL = /[\\\p{Cc}]/u;

/** Where the value of a cell is; null if it is not a plain text, or not there exactly once. */
function placeOf(row: string, name: string): Place | null {
  // In the text of another cell, the quotation marks would be escaped.
  const mark = `"${name}":"`;
  const start = row.indexOf(mark) + mark.length;
  if (start < mark.length) return null;
  const end = row.indexOf('"', start);
  if (end < 0 || UNUSUAL.test(row.slice(start, end)) || row.includes(`"${name}"`, end)) return null;
  return { start, end };
}

function objectIn(text: string): AgentRow | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
