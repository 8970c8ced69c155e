// Remembers what rows of software results mean, since many hosts report the same.

import { isRecord } from "../../../../text/record.ts";
import { unixToIso } from "../../../platform/agent-protocol/numbers.ts";
import { type AgentRow, clip, type DetailResult } from "../../../platform/agent-protocol/rows.ts";
import { type HostCell, type HostCells, plainRow, type SeparatedCells, separate, UNUSUAL } from "./cells.ts";
import { columnsOf, pathsOf, type RowRules, readRow, type SoftwareEntry, softwarePath } from "./read.ts";

/** Longer texts are not remembered. */
const TEXT_MAX = 1_000;
/** The rows remembered are at most twice as many. */
const ROWS_MAX = 20_000;

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
    return result?.ok ? result.rows.flatMap((row) => readRow(row, rules) ?? []) : null;
  }

  #kind(rules: RowRules): Kind {
    const name = rules.isPythonDeb ? `deb ${rules.source}` : rules.source;
    let kind = this.#kinds.get(name);
    if (kind === undefined) {
      const hasPath = columnsOf(rules.source).path === "path";
      const start = new CachedRow(null, plainRow(""));
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
    return row === null ? null : new CachedRow(readRow(row, kind.rules), separated);
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

function objectIn(text: string): AgentRow | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
