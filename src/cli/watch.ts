// Rows looked at again and again: what came, changed and went.
import * as Flags from "@oclif/core/flags";

export const watchFlags = {
  watch: Flags.boolean({
    summary:
      "Look again and again: the list on a terminal, else one JSON line for each host that comes, changes or goes.",
  }),
  interval: Flags.string({ summary: "How often to look (5s).", helpValue: "5s", dependsOn: ["watch"] }),
  times: Flags.integer({ summary: "Look so many times, then end.", min: 1, dependsOn: ["watch"] }),
};

type Row = { readonly id: number };
export interface RowChange<R extends Row> {
  readonly change: "added" | "changed" | "removed";
  readonly row: R;
}

/** What differs from one look to the next; the fields in `volatile` change all the time and do not count. */
export class Changes<R extends Row> {
  readonly #volatile: ReadonlySet<string>;
  #known = new Map<number, { readonly row: R; readonly print: string }>();

  constructor(volatile: readonly (keyof R & string)[]) {
    this.#volatile = new Set(volatile);
  }

  next(rows: readonly R[]): RowChange<R>[] {
    const before = this.#known;
    this.#known = new Map(rows.map((row) => [row.id, { row, print: this.#print(row) }]));
    const changes: RowChange<R>[] = [];
    for (const [id, { row, print }] of this.#known) {
      const known = before.get(id);
      if (!known) changes.push({ change: "added", row });
      else if (known.print !== print) changes.push({ change: "changed", row });
    }
    for (const [id, { row }] of before) if (!this.#known.has(id)) changes.push({ change: "removed", row });
    return changes;
  }

  #print(row: R): string {
    return JSON.stringify(row, (key, value) => (this.#volatile.has(key) ? undefined : value));
  }
}
