// What inserts, upserts, updates and deletes do to memory, rules included. Synchronous: nothing comes between.
import type { Predicate } from "../query.ts";
import { BadRow, partRow, wholeRow } from "../rows.ts";
import { ReferenceViolation, UniqueViolation } from "../store.ts";
import type { Change } from "./change.ts";
import type { ColumnIndex } from "./column-index.ts";
import { Filter } from "./filter.ts";
import type { Memory } from "./memory.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { Row } from "./values.ts";

type Given = Readonly<Record<string, unknown>>;

function insertKept(held: MemoryTable, change: Change, values: Record<string, unknown>): Row {
  if (values.id === null) values.id = held.nextId;
  values.revision = 1;
  const row = held.forms.build(values);
  if (held.rows.has(row.id)) throw new UniqueViolation(held.table.name, ["id"]);
  held.checkUnique(row);
  change.set(held, row.id, row);
  return row;
}

/** After the whole operation, so that rows may refer to others of the same insert. */
function checkReferences(memory: Memory, held: MemoryTable, rows: readonly Row[], columns?: readonly string[]): void {
  for (const { column, to } of memory.referencesOf(held)) {
    if (columns && !columns.includes(column)) continue;
    for (const row of rows) {
      const target = row[column] as number | null;
      if (target !== null && !to.rows.has(target)) throw new ReferenceViolation(held.table.name, column);
    }
  }
}

export function insertRows(memory: Memory, held: MemoryTable, change: Change, given: readonly Given[]): Row[] {
  const checked = given.map((row) => held.forms.keep(wholeRow(held.table, row)));
  return change.atomically(() => {
    const rows = checked.map((values) => insertKept(held, change, values));
    checkReferences(memory, held, rows);
    return rows;
  });
}

/** Finds the row that has the same values in the columns. A null differs from others in a `unique()` column only. */
function finder(held: MemoryTable, on: readonly string[]): { key(row: Given): unknown; id(row: Given): number | null } {
  if (on.length === 1 && on[0] === "id")
    return { key: (row) => row.id, id: (row) => (held.rows.has(row.id as number) ? (row.id as number) : null) };
  const sameColumns = (index: ColumnIndex) =>
    index.unique && index.columns.length === on.length && on.every((column) => index.columns.includes(column));
  const index = held.indexes.find(sameColumns);
  if (!index) throw new Error(`${held.table.name}: ${on.join(", ")} is not declared unique`);
  const differs = (row: Given) => index.nullsDiffer && index.columns.some((column) => row[column] === null);
  return {
    key: (row) => (differs(row) ? null : index.keyOf(row)),
    id(row) {
      if (differs(row)) return null;
      for (const id of index.ids(index.keyOf(row))) return id;
      return null;
    },
  };
}

export interface UpsertColumns {
  readonly on: readonly string[];
  readonly set?: readonly string[];
}

export function upsertRows(
  memory: Memory,
  held: MemoryTable,
  change: Change,
  given: readonly Given[],
  { on, set }: UpsertColumns,
): Row[] {
  const find = finder(held, on);
  for (const column of set ?? [])
    if (!Object.hasOwn(held.table.columns, column) || column === "id")
      throw new BadRow(`${held.table.name}.${column}: cannot be set`);
  const checked = given.map((row) => held.forms.keep(wholeRow(held.table, row)));
  const last = new Map<unknown, number>();
  // Rows without a key of their own never repeat: each counts by itself.
  const keys = checked.map((values) => find.key(values) ?? values);
  keys.forEach((key, i) => void last.set(key, i));

  return change.atomically(() => {
    const ids = new Map<unknown, number>();
    const written: Row[] = [];
    for (const [key, i] of last) {
      const values = checked[i]!;
      const id = find.id(values);
      if (id === null) {
        const row = insertKept(held, change, values);
        written.push(row);
        ids.set(key, row.id);
        continue;
      }
      ids.set(key, id);
      const columns = set ?? Object.keys(given[i]!).filter((name) => given[i]![name] !== undefined);
      const row = updateKept(
        held,
        change,
        id,
        values,
        columns.filter((name) => name !== "id" && !on.includes(name)),
      );
      if (row) written.push(row);
    }
    checkReferences(memory, held, written);
    return keys.map((key) => held.rows.get(ids.get(key)!)!);
  });
}

/** Writes the columns unless the row has these values already. */
function updateKept(
  held: MemoryTable,
  change: Change,
  id: number,
  values: Given,
  columns: readonly string[],
): Row | null {
  const before = held.rows.get(id)!;
  const changed: Record<string, unknown> = {};
  for (const name of columns)
    if (name !== "revision" && !held.forms.same(name, before[name], values[name])) changed[name] = values[name];
  if (Object.keys(changed).length === 0) return null;
  return replaceRow(held, change, before, changed);
}

function replaceRow(held: MemoryTable, change: Change, before: Row, values: Given): Row {
  const row = held.forms.change(before, values);
  held.checkUnique(row);
  change.set(held, row.id, row);
  return row;
}

function checkedPart(held: MemoryTable, given: Given): Record<string, unknown> {
  const values = held.forms.keep(partRow(held.table, given));
  if ("id" in values) throw new BadRow(`${held.table.name}.id: an id never changes`);
  return values;
}

const byId = (a: Row, b: Row): number => a.id - b.id;

export function updateRows(memory: Memory, held: MemoryTable, change: Change, where: Predicate, set: Given): number {
  const values = checkedPart(held, set);
  const picked = [...new Filter(memory).rows(held, where)].sort(byId);
  return change.atomically(() => {
    const rows = picked.map((before) => replaceRow(held, change, before, values));
    checkReferences(memory, held, rows, Object.keys(values));
    return rows.length;
  });
}

export function updateEachRow(
  memory: Memory,
  held: MemoryTable,
  change: Change,
  changes: readonly (Given & { readonly id: number })[],
): number {
  const byRow = new Map(changes.map(({ id, ...given }) => [id, checkedPart(held, given)]));
  return change.atomically(() => {
    const rows: Row[] = [];
    for (const [id, values] of byRow) {
      const before = held.rows.get(id);
      if (before) rows.push(replaceRow(held, change, before, values));
    }
    checkReferences(memory, held, rows);
    return rows.length;
  });
}

export function deleteRows(memory: Memory, held: MemoryTable, change: Change, where: Predicate): number {
  const picked = [...new Filter(memory).rows(held, where)];
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
    for (const { id } of picked) go(held, id);
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
