// Polling a list (--watch): detects added, changed and removed rows.
import * as Flags from "@oclif/core/flags";
import type { Terminal } from "./terminal.ts";

export const watchFlags = {
  watch: Flags.boolean({
    summary:
      "Refresh the list until Ctrl-C; without a terminal, print one JSON line per added, changed or removed host.",
  }),
  interval: Flags.string({ summary: "Refresh interval (5s).", helpValue: "5s", dependsOn: ["watch"] }),
  times: Flags.integer({ summary: "Number of refreshes, then exit.", min: 1, dependsOn: ["watch"] }),
};

/** A table that is repainted on the alternate screen, so that nothing else on the terminal is lost. */
export class Picture {
  readonly #io: Terminal;
  readonly #hasHeader: boolean;
  #shown: readonly string[] = [];

  constructor(io: Terminal, hasHeader: boolean) {
    this.#io = io;
    this.#hasHeader = hasHeader;
  }

  /** Paints as many rows as the terminal has lines, below the header and above a status line. */
  paint(table: string, about: string): void {
    const lines = table.trimEnd().split("\n");
    const head = this.#hasHeader ? lines.slice(0, 1) : [];
    const body = lines.slice(head.length).filter((line) => line !== "");
    const rows = body.slice(0, Math.max(1, this.#io.lines - head.length - 2));
    const more = body.length > rows.length ? `first ${rows.length} of ${body.length} shown; ` : "";
    this.#shown = [...head, ...rows];
    const width = Math.max(20, this.#io.columns);
    this.#io.picture([...this.#shown, "", `${more}${about}`.slice(0, width - 1)]);
  }

  /** Leaves the alternate screen; prints what it showed last. */
  end(): void {
    this.#io.picture(null);
    if (this.#shown.length > 0) this.#io.out(`${this.#shown.join("\n")}\n`);
    this.#shown = [];
  }
}

type WatchedRow = { readonly id: number };
export interface RowChange<R extends WatchedRow> {
  readonly change: "added" | "changed" | "removed";
  readonly row: R;
}

/** Differences between polls. The fields in `volatile` change all the time and are ignored. */
export class Changes<R extends WatchedRow> {
  readonly #volatile: ReadonlySet<string>;
  readonly #shape: (row: R) => unknown;
  #rowsById = new Map<number, { readonly row: R; readonly print: string }>();

  /** `shape` selects what is compared of a row. */
  constructor(volatile: readonly string[], shape: (row: R) => unknown = (row) => row) {
    this.#volatile = new Set(volatile);
    this.#shape = shape;
  }

  next(rows: readonly R[]): RowChange<R>[] {
    const before = this.#rowsById;
    this.#rowsById = new Map(rows.map((row) => [row.id, { row, print: this.#print(row) }]));
    const changes: RowChange<R>[] = [];
    for (const [id, { row, print }] of this.#rowsById) {
      const previous = before.get(id);
      if (!previous) changes.push({ change: "added", row });
      else if (previous.print !== print) changes.push({ change: "changed", row });
    }
    for (const [id, { row }] of before) if (!this.#rowsById.has(id)) changes.push({ change: "removed", row });
    return changes;
  }

  #print(row: R): string {
    return JSON.stringify(this.#shape(row), (key, value) => (this.#volatile.has(key) ? undefined : value));
  }
}
