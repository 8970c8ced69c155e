// Ordered lists: comparing rows with a position, selecting the first k rows, and reading rows in the order of an
// index.
import type { OrderTerm, Position, Predicate, Select } from "../../query.ts";
import { type ColumnIndex, placeOf } from "../column-index.ts";
import type { Memory } from "../memory.ts";
import type { MemoryTable } from "../memory-table.ts";
import { comparable, compareValues, type MemoryRow, type Value } from "../values.ts";
import { Filter } from "./filter.ts";
import { cleanScalar } from "./row-tests.ts";

interface Term {
  readonly sign: 1 | -1;
  value(row: MemoryRow): Value;
}

/** Compares rows by the terms, then by id in the direction of the last term. */
export class Ordering {
  readonly #terms: readonly Term[];

  constructor(memory: Memory, memoryTable: MemoryTable, order: readonly OrderTerm[]) {
    const terms = order.map((term) => readTerm(memory, memoryTable, term));
    const last = terms.at(-1)?.sign ?? 1;
    this.#terms = [...terms, { sign: last, value: (row) => row.id }];
  }

  position(row: MemoryRow): Value[] {
    return this.#terms.map((term) => term.value(row));
  }

  /** Negative if the row comes before the position. */
  compare(row: MemoryRow, position: Position): number {
    for (let i = 0; i < this.#terms.length; i++) {
      const term = this.#terms[i]!;
      const order = compareValues(term.value(row), position[i]!);
      if (order !== 0) return order * term.sign;
    }
    return 0;
  }

  comparePositions(a: Position, b: Position): number {
    for (let i = 0; i < this.#terms.length; i++) {
      const order = compareValues(a[i]!, b[i]!);
      if (order !== 0) return order * this.#terms[i]!.sign;
    }
    return 0;
  }

  /** Validates a position from outside and cleans its values for comparison. */
  accept(position: Position): Position {
    if (position.length !== this.#terms.length)
      throw new Error(`a position in this order has ${this.#terms.length} values, not ${position.length}`);
    return position.map((value) => (value === null ? null : cleanScalar(value)));
  }
}

function readTerm(memory: Memory, memoryTable: MemoryTable, { column, direction, of, on = "id" }: OrderTerm): Term {
  const sign = direction === "asc" ? 1 : -1;
  if (!of) {
    comparable(memoryTable.table, column);
    return { sign, value: (row) => row[column] as Value };
  }
  comparable(memoryTable.table, on);
  comparable(of, column);
  const { rows } = memory.of(of);
  return { sign, value: (row) => (rows.get(row[on] as number)?.[column] ?? null) as Value };
}

interface PlacedRow {
  readonly row: MemoryRow;
  readonly position: Value[];
}

/** The first `count` rows of those offered, kept in a heap with the last of them at the top. */
class FirstFew {
  readonly #heap: PlacedRow[] = [];
  readonly #ordering: Ordering;
  readonly #count: number;

  constructor(ordering: Ordering, count: number) {
    this.#ordering = ordering;
    this.#count = count;
  }

  offer(row: MemoryRow): void {
    const heap = this.#heap;
    if (heap.length < this.#count) {
      heap.push({ row, position: this.#ordering.position(row) });
      this.#up(heap.length - 1);
    } else if (this.#ordering.compare(row, heap[0]!.position) < 0) {
      heap[0] = { row, position: this.#ordering.position(row) };
      this.#down();
    }
  }

  #after(a: number, b: number): boolean {
    return this.#ordering.comparePositions(this.#heap[a]!.position, this.#heap[b]!.position) > 0;
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }

  #up(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#after(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(): void {
    for (let at = 0; ; ) {
      let last = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#heap.length && this.#after(child, last)) last = child;
      if (last === at) return;
      this.#swap(at, last);
      at = last;
    }
  }

  rows(): MemoryRow[] {
    return sortPlaced(this.#ordering, this.#heap);
  }
}

const sortPlaced = (ordering: Ordering, placed: PlacedRow[]): MemoryRow[] =>
  placed.sort((a, b) => ordering.comparePositions(a.position, b.position)).map(({ row }) => row);

/** Runs a select. Returns rows in their in-memory form. */
export function select(memory: Memory, memoryTable: MemoryTable, query: Select): MemoryRow[] {
  const { where = { op: "all" }, order = [], limit = Number.POSITIVE_INFINITY, offset = 0 } = query;
  const ordering = new Ordering(memory, memoryTable, order);
  const after = query.after && ordering.accept(query.after);
  const filter = new Filter(memory);
  const plan = filter.plan(memoryTable, where);
  const needed = offset + limit;
  const total = memoryTable.rows.size;
  const walk = walkOf(memoryTable, order, after, firstIdOf(where));
  if (limit <= 0) return [];

  // Walking the index finds a match about every total / cost rows. Without a plan it is never slower than a full
  // scan.
  const selected = plan?.cost ?? total;
  if (walk && (!plan || (needed * total) / Math.max(1, selected) < selected)) {
    const visited = Math.min(total, (needed * total) / Math.max(1, selected));
    const test = filter.test(memoryTable, where, visited);
    const rows: MemoryRow[] = [];
    let skipped = 0;
    for (const id of walk) {
      const row = memoryTable.rows.get(id);
      if (!row || !test(row) || (after && ordering.compare(row, after) <= 0)) continue;
      if (skipped < offset) skipped++;
      else if (rows.push(row) >= limit) break;
    }
    return rows;
  }

  const few = new FirstFew(ordering, needed);
  const all: PlacedRow[] = [];
  filter.each(memoryTable, where, (row) => {
    if (after && ordering.compare(row, after) <= 0) return;
    if (needed * 4 < total) few.offer(row);
    else all.push({ row, position: ordering.position(row) });
  });
  const sorted = needed * 4 < total ? few.rows() : sortPlaced(ordering, all);
  return sorted.slice(offset, needed);
}

/** A lower bound of the ids of matching rows, which lists that are read in parts have; undefined: none is known. */
function firstIdOf(where: Predicate): number | undefined {
  if (where.op === "and") {
    const bounds = where.parts.flatMap((part) => firstIdOf(part) ?? []);
    return bounds.length === 0 ? undefined : Math.max(...bounds);
  }
  const isBound = (where.op === "gt" || where.op === "gte") && where.column === "id";
  return isBound && typeof where.value === "number" ? where.value : undefined;
}

/**
 * The ids in the requested order, if the id or an index on one column provides it. May start slightly before `after`, or
 * before `firstId`.
 */
function walkOf(
  memoryTable: MemoryTable,
  order: readonly OrderTerm[],
  after: Position | undefined,
  firstId: number | undefined,
): Iterable<number> | null {
  if (order.length > 1 || order[0]?.of) return null;
  const forward = order[0]?.direction !== "desc";
  const column = order[0]?.column ?? "id";
  if (column === "id") {
    const from = after?.[after.length - 1] as number | undefined;
    return walkIds(memoryTable, forward, from ?? (forward ? firstId : undefined));
  }
  const index = memoryTable.indexOn(column);
  return index && walkIndex(index, forward, after?.[0]);
}

function* walkIds(memoryTable: MemoryTable, forward: boolean, from: number | undefined): Generator<number> {
  const ids = memoryTable.idOrder();
  if (forward) for (let i = from === undefined ? 0 : memoryTable.placeOf(from); i < ids.length; i++) yield ids[i]!;
  else
    for (let i = from === undefined ? ids.length - 1 : memoryTable.placeOf(from); i >= 0; i--)
      if (i < ids.length) yield ids[i]!;
}

function* walkIndex(index: ColumnIndex, forward: boolean, from: Value | undefined): Generator<number> {
  const keys = index.sortedKeys();
  const step = forward ? 1 : -1;
  let at = forward ? 0 : keys.length - 1;
  if (from !== undefined) at = forward ? placeOf(keys, from, false) : placeOf(keys, from, true) - 1;
  for (; at >= 0 && at < keys.length; at += step) {
    const key = keys[at]!;
    if (index.count(key) === 1) yield* index.ids(key);
    else yield* [...index.ids(key)].sort(forward ? (a, b) => a - b : (a, b) => b - a);
  }
}
