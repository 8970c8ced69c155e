// What one row of software results means.
import { isRecord } from "../../text/record.ts";
import { unixToIso } from "../agent-protocol/numbers.ts";
import { clip, type DetailResult, type Row, text } from "../agent-protocol/rows.ts";

/** One software version. */
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
}

/** A version on one host. */
export interface SoftwareEntry {
  readonly software: SoftwareVersion;
  /** `softwareIdentity` of the version. */
  readonly identity: string;
  readonly installed_paths: readonly string[];
  readonly last_opened_at: string | null;
}

/** How the rows of a query are read. */
export interface RowRules {
  readonly source: string;
  /** The system also lists its Python packages as deb packages named `python3-<name>`. */
  readonly isPythonDeb: boolean;
}

const PATH_MAX = 4096;
type Columns = Readonly<Partial<Record<keyof SoftwareVersion | "path", string>>>;

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
const columnsOf = (source: string): Columns => columns[source] ?? pathOnly;

const column = (row: Row, name: string | undefined): string => (name === undefined ? "" : text(row, name));

function versionOf(row: Row, source: string): string {
  if (source !== "apps") return text(row, "version").trim();
  return text(row, "bundle_short_version").trim() || text(row, "bundle_version").trim();
}

function softwareIn(row: Row, { source, isPythonDeb }: RowRules): SoftwareVersion | null {
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
  };
}

// Stored text has no NUL characters, so the parts cannot run together.
export const softwareIdentity = (entry: SoftwareVersion): string =>
  `${entry.source}\0${entry.name}\0${entry.version}\0${entry.extension_for}\0${entry.bundle_identifier}\0${entry.extension_id}\0${entry.release}\0${entry.arch}\0${entry.vendor}\0${entry.upgrade_code}`;

const pathsOf = (path: string): readonly string[] => (path === "" || path === "null" ? NO_PATHS : [path]);
const NO_PATHS: readonly string[] = [];

/** Null: the row is no software. */
function read(row: Row, rules: RowRules): SoftwareEntry | null {
  const software = softwareIn(row, rules);
  if (software === null) return null;
  const { path } = columnsOf(rules.source);
  return {
    software,
    identity: softwareIdentity(software),
    installed_paths: path === undefined ? NO_PATHS : pathsOf(text(row, path, PATH_MAX)),
    last_opened_at: rules.source === "apps" ? unixToIso(row[OPENED]) : null,
  };
}

const OPENED = "last_opened_time";

/** Longer texts are not remembered. */
const TEXT_MAX = 1_000;
/** The rows remembered are at most twice as many. */
const ROWS_MAX = 20_000;

type Remembered = Map<string, SoftwareEntry | null>;

/**
 * Remembers what rows mean by their JSON text, because most hosts have the same software. What differs from host to
 * host (where it is installed, and when it was last opened) is no part of the texts. Rows that were not needed for long
 * are forgotten.
 */
export class SoftwareRows {
  #used = new Map<string, Remembered>();
  #before = new Map<string, Remembered>();
  #room = ROWS_MAX;

  /** The software in a query's result; null if the query failed. */
  of(result: DetailResult | undefined, rules: RowRules): readonly SoftwareEntry[] | null {
    const known = result?.texts ? this.#byTexts(result.texts, rules) : null;
    if (known) return known;
    return result?.ok ? result.rows.flatMap((row) => read(row, rules) ?? []) : null;
  }

  /** Null unless each text is an object. */
  #byTexts(texts: readonly string[], rules: RowRules): readonly SoftwareEntry[] | null {
    const entries: SoftwareEntry[] = [];
    const isApp = rules.source === "apps";
    const hasPath = columnsOf(rules.source).path === "path";
    for (const text of texts) {
      const path = hasPath ? cut(text, "path") : null;
      const opened = isApp ? cut(path?.rest ?? text, OPENED) : null;
      const known = this.#known(opened?.rest ?? path?.rest ?? text, rules);
      if (known === undefined) return null;
      if (known === null) continue;
      if (path === null && opened === null) entries.push(known);
      else
        entries.push({
          software: known.software,
          identity: known.identity,
          installed_paths: path === null ? known.installed_paths : pathsOf(clip(path.value, PATH_MAX)),
          last_opened_at: opened === null ? known.last_opened_at : unixToIso(opened.value),
        });
    }
    return entries;
  }

  /** Undefined: the text is no object. */
  #known(text: string, rules: RowRules): SoftwareEntry | null | undefined {
    const kind = rules.isPythonDeb ? `deb ${rules.source}` : rules.source;
    const used = this.#used.get(kind)?.get(text);
    if (used !== undefined) return used;
    const before = this.#before.get(kind)?.get(text);
    if (before !== undefined) return this.#remember(kind, text, before);
    const row = objectIn(text);
    if (row === null) return undefined;
    const entry = read(row, rules);
    return text.length > TEXT_MAX ? entry : this.#remember(kind, text, entry);
  }

  #remember(kind: string, text: string, entry: SoftwareEntry | null): SoftwareEntry | null {
    if (this.#room-- <= 0) {
      this.#before = this.#used;
      this.#used = new Map();
      this.#room = ROWS_MAX;
    }
    const rows: Remembered = this.#used.get(kind) ?? new Map();
    this.#used.set(kind, rows);
    // A copy, because a part of a text keeps the whole of it in memory.
    rows.set(Buffer.from(text).toString(), entry);
    return entry;
  }
}

// Control characters are not allowed in JSON text, and escapes would have to be read.
const UNUSUAL = /[\\\p{Cc}]/u;

/** The value of a cell, and the row's text without it; null if it is not a plain text, or not there exactly once. */
function cut(text: string, name: string): { readonly value: string; readonly rest: string } | null {
  // In the text of another cell, the quotation marks would be escaped.
  const start = `"${name}":"`;
  const from = text.indexOf(start) + start.length;
  if (from < start.length) return null;
  const end = text.indexOf('"', from);
  const value = text.slice(from, end);
  if (end < 0 || UNUSUAL.test(value) || text.includes(`"${name}"`, end)) return null;
  return { value, rest: text.slice(0, from) + text.slice(end) };
}

function objectIn(text: string): Row | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
