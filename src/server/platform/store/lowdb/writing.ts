// Inserts, upserts, updates and deletes in memory, with all rules checked. Synchronous, so no other work can
// interleave.
import type { Predicate } from "../query.ts";
import { BadRow, partRow, wholeRow } from "../rows.ts";
import { ReferenceViolation, UniqueViolation } from "../store.ts";
import type { Change } from "./change.ts";
import type { ColumnIndex } from "./column-index.ts";
import type { Memory } from "./memory.ts";
import type { MemoryTable } from "./memory-table.ts";
import { Filter } from "./queries/filter.ts";
import type { MemoryRow } from "./values.ts";

type InputRow = Readonly<Record<string, unknown>>;

function insertKept(memoryTable: MemoryTable, change: Change, values: Record<string, unknown>): MemoryRow {
  if (values.id === null) values.id = memoryTable.nextId;
  values.revision = 1;
  const row = memoryTable.forms.build(values);
  if (memoryTable.rows.has(row.id)) throw new UniqueViolation(memoryTable.table.name, ["id"]);
  memoryTable.checkUnique(row);
  change.set(memoryTable, row.id, row);
  return row;
}

/** Checked after the whole operation, because rows may refer to other rows of the same insert. */
function checkReferences(
  memory: Memory,
  memoryTable: MemoryTable,
  rows: readonly MemoryRow[],
  columns?: readonly string[],
): void {
  for (const { column, to } of memory.referencesOf(memoryTable)) {
    if (columns && !columns.includes(column)) continue;
    for (const row of rows) {
      const target = row[column] as number | null;
      if (target !== null && !to.rows.has(target)) throw new ReferenceViolation(memoryTable.table.name, column);
    }
  }
}

export function insertRows(
  memory: Memory,
  memoryTable: MemoryTable,
  change: Change,
  inputs: readonly InputRow[],
): MemoryRow[] {
  const checked = inputs.map((row) => memoryTable.forms.keep(wholeRow(memoryTable.table, row)));
  return change.atomically(() => {
    const rows = checked.map((values) => insertKept(memoryTable, change, values));
    checkReferences(memory, memoryTable, rows);
    return rows;
  });
}

/** Finds the row with the same values in the columns. Nulls count as different only in a `unique()` column. */
function finder(
  memoryTable: MemoryTable,
  on: readonly string[],
): { key(row: InputRow): unknown; id(row: InputRow): number | null } {
  if (on.length === 1 && on[0] === "id")
    return { key: (row) => row.id, id: (row) => (memoryTable.rows.has(row.id as number) ? (row.id as number) : null) };
  const sameColumns = (index: ColumnIndex) =>
    index.unique && index.columns.length === on.length && on.every((column) => index.columns.includes(column));
  const index = memoryTable.indexes.find(sameColumns);
  if (!index) throw new Error(`${memoryTable.table.name}: ${on.join(", ")} is not declared unique`);
  const differs = (row: InputRow) => index.nullsDiffer && index.columns.some((column) => row[column] === null);
  return {
    key: (row) => (differs(row) ? null : index.keyOf(row)),
    id(row) {
      if (differs(row)) return null;
      for (const id of index.ids(index.keyOf(row))) return id;
      return null;
    },
  };
}

interface UpsertColumns {
  readonly on: readonly string[];
  readonly set?: readonly string[];
}

export function upsertRows(
  memory: Memory,
  memoryTable: MemoryTable,
  change: Change,
  changes: readonly InputRow[],
  { on, set }: UpsertColumns,
): MemoryRow[] {
  const find = finder(memoryTable, on);
  for (const column of set ?? [])
    if (!Object.hasOwn(memoryTable.table.columns, column) || column === "id")
      throw new BadRow(`${memoryTable.table.name}.${column}: cannot be set`);
  const checked = changes.map((row) => memoryTable.forms.keep(wholeRow(memoryTable.table, row)));
  const last = new Map<unknown, number>();
  // Rows without a key never repeat, so each of them is kept.
  const keys = checked.map((values) => find.key(values) ?? values);
  keys.forEach((key, i) => void last.set(key, i));

  return change.atomically(() => {
    const ids = new Map<unknown, number>();
    const written: MemoryRow[] = [];
    for (const [key, i] of last) {
      const values = checked[i]!;
      const id = find.id(values);
      if (id === null) {
        const row = insertKept(memoryTable, change, values);
        written.push(row);
        ids.set(key, row.id);
        continue;
      }
      ids.set(key, id);
      const columns = set ?? Object.keys(changes[i]!).filter((name) => changes[i]![name] !== undefined);
      const row = updateKept(
        memoryTable,
        change,
        id,
        values,
        columns.filter((name) => name !== "id" && !on.includes(name)),
      );
      if (row) written.push(row);
    }
    checkReferences(memory, memoryTable, written);
    return keys.map((key) => memoryTable.rows.get(ids.get(key)!)!);
  });
}

/** Writes the columns unless the row already has these values. */
function updateKept(
  memoryTable: MemoryTable,
  change: Change,
  id: number,
  values: InputRow,
  columns: readonly string[],
): MemoryRow | null {
  const before = memoryTable.rows.get(id)!;
  const changed: Record<string, unknown> = {};
  for (const name of columns)
    if (name !== "revision" && !memoryTable.forms.same(name, before[name], values[name])) changed[name] = values[name];
  if (Object.keys(changed).length === 0) return null;
  return replaceRow(memoryTable, change, before, changed);
}

function replaceRow(memoryTable: MemoryTable, change: Change, before: MemoryRow, values: InputRow): MemoryRow {
  const row = memoryTable.forms.change(before, values);
  memoryTable.checkUnique(row);
  change.set(memoryTable, row.id, row);
  return row;
}

function checkedPart(memoryTable: MemoryTable, change: InputRow): Record<string, unknown> {
  const values = memoryTable.forms.keep(partRow(memoryTable.table, change));
  if ("id" in values) throw new BadRow(`${memoryTable.table.name}.id: an id cannot be changed`);
  return values;
}

const byId = (a: MemoryRow, b: MemoryRow): number => a.id - b.id;

export function updateRows(
  memory: Memory,
  memoryTable: MemoryTable,
  change: Change,
  where: Predicate,
  set: InputRow,
): number {
  const values = checkedPart(memoryTable, set);
  const picked = new Filter(memory).rows(memoryTable, where).sort(byId);
  return change.atomically(() => {
    const rows = picked.map((before) => replaceRow(memoryTable, change, before, values));
    checkReferences(memory, memoryTable, rows, Object.keys(values));
    return rows.length;
  });
}

export function updateEachRow(
  memory: Memory,
  memoryTable: MemoryTable,
  change: Change,
  changes: readonly (InputRow & { readonly id: number })[],
): number {
  const byRow = new Map(changes.map(({ id, ...change }) => [id, checkedPart(memoryTable, change)]));
  return change.atomically(() => {
    const rows: MemoryRow[] = [];
    for (const [id, values] of byRow) {
      const before = memoryTable.rows.get(id);
      if (before) rows.push(replaceRow(memoryTable, change, before, values));
    }
    checkReferences(memory, memoryTable, rows);
    return rows.length;
  });
}

export function deleteRows(memory: Memory, memoryTable: MemoryTable, change: Change, where: Predicate): number {
  const picked = new Filter(memory).rows(memoryTable, where);
  const going = new Map<MemoryTable, Set<number>>();
  const queue: [MemoryTable, number][] = [];
  const go = (from: MemoryTable, id: number): void => {
    const ids = going.get(from) ?? new Set();
    going.set(from, ids);
    if (ids.has(id)) return;
    ids.add(id);
    queue.push([from, id]);
  };
  const isGoing = (from: MemoryTable, id: number): boolean => going.get(from)?.has(id) ?? false;

  return change.atomically(() => {
    const cleared: [MemoryTable, number, string][] = [];
    const kept: [MemoryTable, number, string][] = [];
    for (const { id } of picked) go(memoryTable, id);
    for (let at = 0; at < queue.length; at++) {
      const [target, id] = queue[at]!;
      for (const reference of memory.referencesTo(target)) {
        for (const row of memory.referring(reference, id)) {
          if (reference.onDelete === "cascade") go(reference.from, row.id);
          else (reference.onDelete === "null" ? cleared : kept).push([reference.from, row.id, reference.column]);
        }
      }
    }
    for (const [from, id, column] of kept)
      if (!isGoing(from, id)) throw new ReferenceViolation(from.table.name, column);
    for (const [from, id, column] of cleared)
      if (!isGoing(from, id)) replaceRow(from, change, from.rows.get(id)!, { [column]: null });
    for (const [from, id] of queue) change.set(from, id, null);
    return picked.length;
  });
}
