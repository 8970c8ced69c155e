import { UniqueViolation } from "../store.ts";
import type { Table } from "../table.ts";
import { ColumnIndex, FoldedIndex } from "./column-index.ts";
import { IdSet } from "./id-set.ts";
import type { MemoryRow, RowForms, Value } from "./values.ts";

/** A map of bytes that would take more memory than this for each row is larger than a set of their ids. */
const MAX_BYTES_PER_ID = 16;

/** The rows of one table with their indexes. Enforces unique sets only; checking references is the writer's task. */
export class MemoryTable {
  readonly table: Table;
  readonly forms: RowForms;
  readonly rows = new Map<number, MemoryRow>();
  readonly #all: ColumnIndex[];
  /** Whether the store assigns the ids (otherwise the rows share the ids of another table). */
  readonly ownIds: boolean;
  nextId = 1;
  // Ids in ascending order. May include ids of deleted rows, so that a delete need not search the list.
  #order: number[] = [];
  #sorted = true;
  readonly #byColumn = new Map<string, ColumnIndex>();
  readonly #folded = new Map<string, FoldedIndex>();

  constructor(table: Table, forms: RowForms) {
    this.table = table;
    this.forms = forms;
    this.ownIds = table.columns.id!.spec.to === null;
    const indexes: ColumnIndex[] = table.unique.map((columns) => new ColumnIndex(columns, true, false));
    for (const [name, { spec }] of Object.entries(table.columns))
      if (spec.indexed && name !== "id") indexes.push(new ColumnIndex([name], spec.unique, true));
    for (const columns of table.indexes) indexes.push(new ColumnIndex(columns, false, false));
    for (const index of indexes) {
      const [first] = index.columns;
      if (index.columns.length === 1 && !this.#byColumn.has(first!)) this.#byColumn.set(first!, index);
    }
    this.#all = indexes;
  }

  get indexes(): readonly ColumnIndex[] {
    return this.#all;
  }

  indexOn(column: string): ColumnIndex | null {
    return this.#byColumn.get(column) ?? null;
  }

  /** The index on an indexed column by its text in lower case. Built on first use, because few columns are searched so. */
  foldedIndexOn(column: string): FoldedIndex | null {
    const existing = this.#folded.get(column);
    if (existing || !this.#byColumn.has(column)) return existing ?? null;
    const index = new FoldedIndex(column);
    for (const [id, row] of this.rows) index.add(index.keyOf(row), id);
    this.#folded.set(column, index);
    this.#all.push(index);
    return index;
  }

  /** Throws `UniqueViolation` if another row has the same values in a unique set. */
  checkUnique(row: MemoryRow): void {
    for (const index of this.indexes)
      if (index.unique && index.clash(row) !== null) throw new UniqueViolation(this.table.name, index.columns);
  }

  /** Inserts, replaces or (with null) removes the row. Returns the previous row. */
  set(id: number, row: MemoryRow | null): MemoryRow | null {
    const before = this.rows.get(id) ?? null;
    for (const index of this.indexes) {
      if (before && row) {
        const old = index.keyOf(before);
        const key = index.keyOf(row);
        if (old === key) continue;
        index.remove(old, id);
        index.add(key, id);
      } else if (before) index.remove(index.keyOf(before), id);
      else if (row) index.add(index.keyOf(row), id);
    }
    this.setRow(id, row);
    return before;
  }

  /** `set` for loading files. Indexes are built at the end, because rows may conflict temporarily during replay. */
  setRow(id: number, row: MemoryRow | null): void {
    if (!row) {
      this.rows.delete(id);
      return;
    }
    if (!this.rows.has(id)) {
      const last = this.#order.length === 0 ? Number.NEGATIVE_INFINITY : this.#order[this.#order.length - 1]!;
      if (id > last) this.#order.push(id);
      else if (!this.#sorted || this.#order[this.placeOf(id)] !== id) {
        this.#order.push(id);
        this.#sorted = false;
      }
      if (id >= this.nextId) this.nextId = id + 1;
    }
    this.rows.set(id, row);
  }

  buildIndexes(): void {
    for (const index of this.indexes) {
      index.clear();
      for (const [id, row] of this.rows) index.add(index.keyOf(row), id);
    }
  }

  clear(): void {
    this.rows.clear();
    this.#order = [];
    this.#sorted = true;
    this.buildIndexes();
  }

  /** A set for ids of this table. */
  emptyIdSet(): IdSet | Set<Value> {
    return this.nextId <= MAX_BYTES_PER_ID * this.rows.size ? new IdSet(this.nextId) : new Set();
  }

  /** All ids in ascending order, possibly including ids of deleted rows. */
  idOrder(): readonly number[] {
    if (!this.#sorted || this.#order.length > 2 * this.rows.size + 100) {
      this.#order = [...this.rows.keys()].sort((a, b) => a - b);
      this.#sorted = true;
    }
    return this.#order;
  }

  /** The position in `idOrder` where the id is or would be inserted. */
  placeOf(id: number): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#order[middle]! < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
