// The results of a live query in the browser: columns instead of rows, because a row as an object needs several times
// the memory.
import type { LiveResult, LiveStatus, LiveTotals } from "../../../../api/inventory/live-queries.ts";

/** Rows beyond are counted, and can be exported, but are not kept. */
export const MAX_ROWS = 100_000;
/** Distinct values of a column that are looked for when a cell repeats one; columns with more rarely repeat any. */
const MAX_INTERNED = 5_000;

export interface LiveHost {
  readonly id: number;
  readonly name: string;
}

export interface HostError {
  readonly host: LiveHost;
  readonly error: string;
}

/** A value of a column, with how many rows and hosts have it. */
export interface Group {
  readonly value: string;
  readonly rows: number;
  readonly hosts: number;
}

const MAX_ERRORS = 1_000;
/** The server adds these to each row; the table shows the host in a column of its own. */
const hostColumns = new Set(["host_hostname", "host_display_name"]);

export class LiveResults {
  totals: LiveTotals | null = null;
  status: LiveStatus | null = null;
  /** All rows that have arrived, including those that are not kept. */
  rowCount = 0;
  keptCount = 0;
  readonly errors: HostError[] = [];
  readonly hosts: LiveHost[] = [];
  readonly #columns = new Map<string, Column>();
  /** The place in `hosts` of the host of each row. */
  readonly #hostOfRow: number[] = [];

  get columnNames(): readonly string[] {
    return [...this.#columns.keys()];
  }

  add({ host, rows, error }: LiveResult): void {
    const name = host.display_name || host.hostname;
    if (error !== null) {
      if (this.errors.length < MAX_ERRORS) this.errors.push({ host: { id: host.id, name }, error });
      return;
    }
    if (rows.length === 0) return;
    const place = this.hosts.push({ id: host.id, name }) - 1;
    for (const row of rows) {
      const isKept = this.keptCount < MAX_ROWS;
      for (const [column, value] of Object.entries(row)) {
        if (hostColumns.has(column)) continue;
        const cells = this.#column(column);
        if (isKept) cells.set(this.keptCount, value);
      }
      this.rowCount++;
      if (!isKept) continue;
      this.#hostOfRow.push(place);
      this.keptCount++;
    }
  }

  host(row: number): LiveHost {
    return this.hosts[this.#hostOfRow[row]!]!;
  }

  cell(column: string, row: number): string {
    return this.#columns.get(column)?.get(row) ?? "";
  }

  /** The values of a column, those of most rows first. */
  groupsOf(column: string): readonly Group[] {
    const groups = new Map<string, { rows: number; hosts: number; lastHost: number }>();
    for (let row = 0; row < this.keptCount; row++) {
      const value = this.cell(column, row);
      const host = this.#hostOfRow[row]!;
      const group = groups.get(value);
      if (group === undefined) {
        groups.set(value, { rows: 1, hosts: 1, lastHost: host });
        continue;
      }
      group.rows++;
      // The rows of a host follow each other.
      if (group.lastHost !== host) group.hosts++;
      group.lastHost = host;
    }
    return [...groups]
      .map(([value, { rows, hosts }]) => ({ value, rows, hosts }))
      .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1));
  }

  #column(name: string): Column {
    const existing = this.#columns.get(name);
    if (existing !== undefined) return existing;
    const column = new Column();
    this.#columns.set(name, column);
    return column;
  }
}

class Column {
  readonly #values: string[] = [];
  readonly #interned = new Map<string, string>();

  get(row: number): string {
    return this.#values[row] ?? "";
  }

  /** Rows are set in order; those between have no such column. Equal values share the memory of the first. */
  set(row: number, value: string): void {
    while (this.#values.length < row) this.#values.push("");
    this.#values.push(this.#intern(value));
  }

  #intern(value: string): string {
    const existing = this.#interned.get(value);
    if (existing !== undefined) return existing;
    if (this.#interned.size < MAX_INTERNED) this.#interned.set(value, value);
    return value;
  }
}
