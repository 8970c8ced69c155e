import { columnsOfPages, type OrderTerm, type Position, type Predicate, type Scalar, type Select } from "../query.ts";
import { type Batch, readSides, type Sides, type SidesOf } from "../sides.ts";
import type { Collection, UpsertOptions } from "../store.ts";
import type { InsertOf, RowOf, Table } from "../table.ts";
import type { Memory } from "./memory.ts";
import type { MemoryTable } from "./memory-table.ts";
import { Filter } from "./queries/filter.ts";
import { Ordering, select } from "./queries/ordering.ts";
import type { Session } from "./session.ts";
import { columnSpec, comparable, compareValues, type MemoryRow, type Value } from "./values.ts";
import { deleteRows, insertRows, updateEachRow, updateRows, upsertRows } from "./writing.ts";

const everything: Predicate = { op: "all" };
const BATCH_SIZE = 500;
type InputRow = Readonly<Record<string, unknown>>;

export class MemoryCollection<T extends Table> implements Collection<T> {
  readonly table: T;
  readonly #memory: Memory;
  readonly #memoryTable: MemoryTable;
  readonly #session: Session;

  constructor(table: T, memory: Memory, session: Session) {
    this.table = table;
    this.#memory = memory;
    this.#memoryTable = memory.of(table);
    this.#session = session;
  }

  #show(row: MemoryRow): RowOf<T> {
    return this.#memoryTable.forms.show(row) as unknown as RowOf<T>;
  }

  /** Shows the columns, or all. Throws before anything is written if there is no such column. */
  #shownBy<K extends string>(columns: readonly K[] | undefined) {
    const show = columns ? this.#memoryTable.forms.picker(columns) : (row: MemoryRow) => this.#show(row);
    return (row: MemoryRow) => show(row) as Pick<RowOf<T>, K & keyof RowOf<T>>;
  }

  #read<R>(step: () => R): Promise<R> {
    return this.#session.read(step);
  }

  get(id: number): Promise<RowOf<T> | null> {
    return this.#read(() => {
      const row = this.#memoryTable.rows.get(id);
      return row ? this.#show(row) : null;
    });
  }

  getMany(ids: readonly number[]): Promise<RowOf<T>[]> {
    return this.#read(() => {
      const rows: RowOf<T>[] = [];
      for (const id of ids) {
        const row = this.#memoryTable.rows.get(id);
        if (row) rows.push(this.#show(row));
      }
      return rows;
    });
  }

  sides<S extends Sides>(ids: readonly number[], sides: S): Promise<SidesOf<S>[]> {
    return this.#lazySides(ids, sides).then((sidesAt) => ids.map((_, place) => sidesAt(place)));
  }

  /** Finds the rows of side tables now, and copies their columns when they are requested. */
  #lazySides<S extends Sides>(ids: readonly number[], sides: S): Promise<(place: number) => SidesOf<S>> {
    const sideList = readSides(this.table, sides);
    return this.#read(() => {
      const parts = sideList.map(([name, { table, columns }]) => {
        const memoryTable = this.#memory.of(table);
        return { name, rows: ids.map((id) => memoryTable.rows.get(id)), pick: memoryTable.forms.picker(columns) };
      });
      return (place) => {
        const partners: Record<string, unknown> = {};
        for (const { name, rows, pick } of parts) {
          const row = rows[place];
          partners[name] = row ? pick(row) : null;
        }
        return partners as SidesOf<S>;
      };
    });
  }

  async first(query: Select): Promise<RowOf<T> | null> {
    return (await this.list({ ...query, limit: Math.min(1, query.limit ?? 1) }))[0] ?? null;
  }

  list(query: Select = {}): Promise<RowOf<T>[]> {
    return this.#read(() => select(this.#memory, this.#memoryTable, query).map((row) => this.#show(row)));
  }

  pick<K extends keyof RowOf<T> & string>(columns: readonly K[], query: Select = {}): Promise<Pick<RowOf<T>, K>[]> {
    return this.#read(() => this.#picked(columns, select(this.#memory, this.#memoryTable, query)));
  }

  #picked<K extends string>(columns: readonly K[], rows: readonly MemoryRow[]): Pick<RowOf<T>, K & keyof RowOf<T>>[] {
    const pick = this.#memoryTable.forms.picker(columns);
    return rows.map((row) => pick(row) as Pick<RowOf<T>, K & keyof RowOf<T>>);
  }

  async *pages<K extends keyof RowOf<T> & string = keyof RowOf<T> & string>(
    query: Select = {},
    pageSize = BATCH_SIZE,
    columns?: readonly K[],
  ): AsyncIterable<Pick<RowOf<T>, K>[]> {
    const pageColumns = columns && columnsOfPages(columns, query.order);
    for await (const rows of this.#rowPages(query, pageSize))
      yield (pageColumns ? this.#picked(pageColumns, rows) : rows.map((row) => this.#show(row))) as Pick<RowOf<T>, K>[];
  }

  async *batches<K extends keyof RowOf<T> & string, S extends Sides>(
    columns: readonly K[],
    sides: S,
    query: Select = {},
    pageSize = BATCH_SIZE,
  ): AsyncIterable<Batch<Pick<RowOf<T>, K>, SidesOf<S>>> {
    const view = this.#memoryTable.forms.viewer(columnsOfPages(columns, query.order));
    for await (const rows of this.#rowPages(query, pageSize)) {
      const ids = rows.map(({ id }) => id);
      const row = (place: number) => view(rows[place]!) as Pick<RowOf<T>, K>;
      yield { ids, row, sides: await this.#lazySides(ids, sides) };
    }
  }

  async *#rowPages(query: Select, pageSize: number): AsyncIterable<readonly MemoryRow[]> {
    const { where = everything, order = [], limit = Number.POSITIVE_INFINITY, offset = 0 } = query;
    if (order.length > 0) {
      // The order is fixed at the start: a row that moves meanwhile is returned once; rows that are deleted or stop
      // matching are skipped.
      const ids = await this.#read(() => select(this.#memory, this.#memoryTable, query).map(({ id }) => id));
      for (let at = 0; at < ids.length; at += pageSize) {
        const page = await this.#read(() => this.#stillMatching(ids.slice(at, at + pageSize), where));
        if (page.length > 0) yield page;
      }
      return;
    }
    let { after } = query;
    for (let left = limit, skip = offset; left > 0; skip = 0) {
      const size = Math.min(left, pageSize);
      const from = after;
      const rows = await this.#read(() =>
        select(this.#memory, this.#memoryTable, { where, limit: size, offset: skip, ...(from && { after: from }) }),
      );
      if (rows.length > 0) yield rows;
      if (rows.length < size) return;
      left -= rows.length;
      after = [rows.at(-1)!.id];
    }
  }

  #stillMatching(ids: readonly number[], where: Predicate): MemoryRow[] {
    const test = new Filter(this.#memory).test(this.#memoryTable, where, ids.length);
    const rows: MemoryRow[] = [];
    for (const id of ids) {
      const row = this.#memoryTable.rows.get(id);
      if (row && test(row)) rows.push(row);
    }
    return rows;
  }

  positionOf(row: RowOf<T>, order: readonly OrderTerm[]): Promise<Position> {
    return this.#read(() => new Ordering(this.#memory, this.#memoryTable, order).position(row as unknown as MemoryRow));
  }

  count(where: Predicate = everything): Promise<number> {
    return this.#read(() => new Filter(this.#memory).count(this.#memoryTable, where));
  }

  groupCount(
    column: keyof RowOf<T> & string,
    where: Predicate = everything,
  ): Promise<{ value: Scalar | null; count: number }[]> {
    return this.#read(() => {
      const groups = new Map<Value, { readonly value: Value; count: number }>();
      const add = (value: Value) => {
        const group = groups.get(value);
        if (group) group.count++;
        else groups.set(value, { value, count: 1 });
      };
      const isSet = columnSpec(this.table, column).kind === "ids";
      if (!isSet) comparable(this.table, column);
      const index = this.#memoryTable.indexOn(column);
      if (index && where.op === "all")
        for (const value of index.keys()) groups.set(value, { value, count: index.count(value) });
      else
        new Filter(this.#memory).each(this.#memoryTable, where, (row) => {
          if (!isSet) add(row[column] as Value);
          else for (const member of (row[column] as readonly number[] | null) ?? []) add(member);
        });
      return [...groups.values()].sort((a, b) => b.count - a.count || compareValues(a.value, b.value));
    });
  }

  max(column: keyof RowOf<T> & string, where: Predicate = everything): Promise<Scalar | null> {
    return this.#read(() => {
      comparable(this.table, column);
      let max: Value = null;
      new Filter(this.#memory).each(this.#memoryTable, where, (row) => {
        const value = row[column] as Value;
        if (value !== null && (max === null || compareValues(value, max) > 0)) max = value;
      });
      return max;
    });
  }

  async insert(row: InsertOf<T>): Promise<RowOf<T>> {
    return (await this.insertMany([row]))[0]! as RowOf<T>;
  }

  insertMany<K extends keyof RowOf<T> & string = keyof RowOf<T> & string>(
    rows: readonly InsertOf<T>[],
    { returning }: { readonly returning?: readonly K[] } = {},
  ): Promise<Pick<RowOf<T>, K>[]> {
    return this.#session.write((change) => {
      const shown = this.#shownBy(returning);
      return insertRows(this.#memory, this.#memoryTable, change, rows as readonly InputRow[]).map(shown);
    });
  }

  upsert<K extends keyof RowOf<T> & string = keyof RowOf<T> & string>(
    rows: readonly InsertOf<T>[],
    { returning, ...shape }: UpsertOptions<T, K>,
  ): Promise<Pick<RowOf<T>, K>[]> {
    return this.#session.write((change) => {
      const shown = this.#shownBy(returning);
      return upsertRows(this.#memory, this.#memoryTable, change, rows as readonly InputRow[], shape).map(shown);
    });
  }

  update({ where, set }: { where: Predicate; set: Partial<InsertOf<T>> }): Promise<number> {
    return this.#session.write((change) => updateRows(this.#memory, this.#memoryTable, change, where, set as InputRow));
  }

  updateEach(changes: readonly ({ id: number } & Partial<InsertOf<T>>)[]): Promise<number> {
    return this.#session.write((change) => updateEachRow(this.#memory, this.#memoryTable, change, changes));
  }

  delete(where: Predicate): Promise<number> {
    return this.#session.write((change) => deleteRows(this.#memory, this.#memoryTable, change, where));
  }
}
