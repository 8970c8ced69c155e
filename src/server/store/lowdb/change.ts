import type { Memory } from "./memory.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { Row } from "./values.ts";

interface Undo {
  readonly held: MemoryTable;
  readonly id: number;
  readonly before: Row | null;
}

/** Records in one journal line: a larger transaction goes on in the next one. */
const RECORDS_PER_LINE = 2_000;

/** What a transaction has done to memory: how to take it back, and how to write it down. */
export class Change {
  private readonly undos: Undo[] = [];

  set(held: MemoryTable, id: number, row: Row | null): void {
    this.undos.push({ held, id, before: held.set(id, row) });
  }

  get isEmpty(): boolean {
    return this.undos.length === 0;
  }

  /** Runs one operation whole or not at all. */
  atomically<R>(work: () => R): R {
    const mark = this.undos.length;
    try {
      return work();
    } catch (error) {
      this.undo(mark);
      throw error;
    }
  }

  undo(mark = 0): void {
    while (this.undos.length > mark) {
      const { held, id, before } = this.undos.pop()!;
      held.set(id, before);
    }
  }

  /**
   * The bodies of the journal lines: absolute values of what differs now from what was before. Replayed over a state that
   * holds some of them already (a snapshot taken meanwhile) they give the same result.
   */
  lines(): string[] {
    const first = new Map<MemoryTable, Map<number, Row | null>>();
    for (const { held, id, before } of this.undos) {
      const rows = first.get(held) ?? new Map<number, Row | null>();
      first.set(held, rows);
      if (!rows.has(id)) rows.set(id, before);
    }
    const lines: string[] = [];
    let records: string[] = [];
    for (const [held, rows] of first) {
      for (const [id, before] of rows) {
        records.push(recordOf(held, id, before, held.rows.get(id) ?? null));
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

function recordOf(held: MemoryTable, id: number, before: Row | null, after: Row | null): string {
  const { name } = held.table;
  // Also for a row that came and went: its id is not given again.
  if (!after) return JSON.stringify(["-", name, id] satisfies DiskRecord);
  if (!before) return putRecord(held, after);
  const changed: Record<string, unknown> = {};
  for (const column of held.forms.columns)
    if (before[column] !== after[column]) changed[column] = held.forms.toDisk(column, after[column]);
  return JSON.stringify(["=", name, id, changed] satisfies DiskRecord);
}

export const putRecord = (held: MemoryTable, row: Row): string =>
  JSON.stringify(["+", held.table.name, held.forms.rowToDisk(row)] satisfies DiskRecord);

/** The next id of a table: rows that are gone have left no other trace of theirs. */
export const nextIdRecord = (held: MemoryTable): string =>
  JSON.stringify(["#", held.table.name, held.nextId] satisfies DiskRecord);

/** Applies a record that was read from disk. Indexes are made afterwards. */
export function replay(memory: Memory, record: unknown): void {
  const [kind, name, subject, part] = record as [string, string, unknown, Record<string, unknown>];
  const held = memory.named(name);
  switch (kind) {
    case "+": {
      const row = held.forms.rowFromDisk(subject as Record<string, unknown>);
      held.setRow(row.id, row);
      return;
    }
    case "=": {
      const row = held.rows.get(subject as number);
      // Missing where the snapshot was taken after a later delete, which follows.
      if (row) held.setRow(row.id, held.forms.build({ ...row, ...held.forms.partFromDisk(part) }));
      return;
    }
    case "-":
      held.setRow(subject as number, null);
      // The row may be missing from the snapshot; its id stays used all the same.
      held.nextId = Math.max(held.nextId, (subject as number) + 1);
      return;
    case "#":
      held.nextId = Math.max(held.nextId, subject as number);
      return;
    default:
      throw new Error(`unknown record ${JSON.stringify(kind)}`);
  }
}
