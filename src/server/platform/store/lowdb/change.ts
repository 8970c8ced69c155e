import type { Memory } from "./memory.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { MemoryRow } from "./values.ts";

interface Undo {
  readonly memoryTable: MemoryTable;
  readonly id: number;
  readonly before: MemoryRow | null;
}

/** Maximum number of records in one journal line. Larger transactions continue on the next line. */
const RECORDS_PER_LINE = 2_000;

/** The changes that a transaction made in memory: supports rolling them back and writing them to the journal. */
export class Change {
  readonly #undos: Undo[] = [];

  set(memoryTable: MemoryTable, id: number, row: MemoryRow | null): void {
    this.#undos.push({ memoryTable, id, before: memoryTable.set(id, row) });
  }

  get isEmpty(): boolean {
    return this.#undos.length === 0;
  }

  /** Rolls back everything that `work` changed if it throws. */
  atomically<R>(work: () => R): R {
    const mark = this.#undos.length;
    try {
      return work();
    } catch (error) {
      this.undo(mark);
      throw error;
    }
  }

  undo(mark = 0): void {
    while (this.#undos.length > mark) {
      const { memoryTable, id, before } = this.#undos.pop()!;
      memoryTable.set(id, before);
    }
  }

  /**
   * The bodies of the journal lines: the new absolute values of everything that changed. Replaying them is
   * idempotent, which matters when a snapshot already contains some of them.
   */
  lines(): string[] {
    const first = new Map<MemoryTable, Map<number, MemoryRow | null>>();
    for (const { memoryTable, id, before } of this.#undos) {
      const rows = first.get(memoryTable) ?? new Map<number, MemoryRow | null>();
      first.set(memoryTable, rows);
      if (!rows.has(id)) rows.set(id, before);
    }
    const lines: string[] = [];
    let records: string[] = [];
    for (const [memoryTable, rows] of first) {
      for (const [id, before] of rows) {
        records.push(recordOf(memoryTable, id, before, memoryTable.rows.get(id) ?? null));
        if (records.length === RECORDS_PER_LINE) {
          lines.push(records.join(","));
          records = [];
        }
      }
    }
    if (records.length > 0) lines.push(records.join(","));
    return lines;
  }
}

type DiskRecord =
  | readonly ["+", string, Record<string, unknown>]
  | readonly ["=", string, number, Record<string, unknown>]
  | readonly ["-", string, number]
  | readonly ["#", string, number];

function recordOf(memoryTable: MemoryTable, id: number, before: MemoryRow | null, after: MemoryRow | null): string {
  const { name } = memoryTable.table;
  // Recorded even for a row that was inserted and deleted in the same transaction, so that its id is not reused.
  if (!after) return JSON.stringify(["-", name, id] satisfies DiskRecord);
  if (!before) return putRecord(memoryTable, after);
  const changed: Record<string, unknown> = {};
  for (const column of memoryTable.forms.columns)
    if (before[column] !== after[column]) changed[column] = memoryTable.forms.toDisk(column, after[column]);
  return JSON.stringify(["=", name, id, changed] satisfies DiskRecord);
}

export const putRecord = (memoryTable: MemoryTable, row: MemoryRow): string =>
  JSON.stringify(["+", memoryTable.table.name, memoryTable.forms.rowToDisk(row)] satisfies DiskRecord);

/** Records a table's next id, because deleted rows leave no other trace of the ids they used. */
export const nextIdRecord = (memoryTable: MemoryTable): string =>
  JSON.stringify(["#", memoryTable.table.name, memoryTable.nextId] satisfies DiskRecord);

/** Applies a record read from disk. The indexes are built afterwards. */
export function replay(memory: Memory, record: unknown): void {
  const [kind, name, subject, part] = record as [string, string, unknown, Record<string, unknown>];
  const memoryTable = memory.named(name);
  switch (kind) {
    case "+": {
      const row = memoryTable.forms.rowFromDisk(subject as Record<string, unknown>);
      memoryTable.setRow(row.id, row);
      return;
    }
    case "=": {
      const row = memoryTable.rows.get(subject as number);
      // The row is missing if the snapshot was taken after a later delete; the record of that delete follows.
      if (row) memoryTable.setRow(row.id, memoryTable.forms.build({ ...row, ...memoryTable.forms.partFromDisk(part) }));
      return;
    }
    case "-":
      memoryTable.setRow(subject as number, null);
      // The row may be missing from the snapshot, but its id counts as used.
      memoryTable.nextId = Math.max(memoryTable.nextId, (subject as number) + 1);
      return;
    case "#":
      memoryTable.nextId = Math.max(memoryTable.nextId, subject as number);
      return;
    default:
      throw new Error(`unknown record ${JSON.stringify(kind)}`);
  }
}
