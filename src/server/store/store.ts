// The contract that both engines keep. Resources see nothing else of storage.
import type { OrderTerm, Position, Predicate, Scalar, Select } from "./query.ts";
import type { InsertOf, RowOf, Table } from "./table.ts";

// biome-ignore lint/suspicious/noExplicitAny: tables of any columns, as a bound only
export type Tables = Record<string, Table<any>>;

export interface Collection<T extends Table = Table> {
  readonly table: T;
  /** The row, or null. */
  get(id: number): Promise<RowOf<T> | null>;
  getMany(ids: readonly number[]): Promise<RowOf<T>[]>;
  /** The first row in the order, or null. */
  first(select: Select): Promise<RowOf<T> | null>;
  list(select?: Select): Promise<RowOf<T>[]>;
  /** The chosen columns only; for wide tables and hot lists. */
  pick<K extends keyof RowOf<T> & string>(columns: readonly K[], select?: Select): Promise<Pick<RowOf<T>, K>[]>;
  /** Rows in pages of at most `pageSize` (default 500), each row once, in id order or by `order`. Memory stays flat. */
  pages(select?: Select, pageSize?: number): AsyncIterable<RowOf<T>[]>;
  /** Where the row stands in that order, for `Select.after`. */
  positionOf(row: RowOf<T>, order: readonly OrderTerm[]): Promise<Position>;
  count(where?: Predicate): Promise<number>;
  /** How many rows have each value of the column, most first, then by value. An `ids` column counts each member. */
  groupCount(column: keyof RowOf<T> & string, where?: Predicate): Promise<{ value: Scalar | null; count: number }[]>;
  max(column: keyof RowOf<T> & string, where?: Predicate): Promise<Scalar | null>;

  insert(row: InsertOf<T>): Promise<RowOf<T>>;
  insertMany(rows: readonly InsertOf<T>[]): Promise<RowOf<T>[]>;
  /**
   * Inserts each row, or updates the one that has the same values in `on` (a unique set of columns, or `["id"]`).
   * `set` names the columns that an update writes (default: all given but `on`). A row that would not change is not
   * written and keeps its revision. When `on` values repeat within `rows`, the last wins. Gives the rows as they are after, in order.
   * The order of the writes within one call is the engine's: a unique value that moves from one row to another in it may be a
   * `UniqueViolation`. `returning` names the columns of the rows given back (default: all): none where nobody looks at them.
   */
  upsert<K extends keyof RowOf<T> & string = keyof RowOf<T> & string>(
    rows: readonly InsertOf<T>[],
    options: UpsertOptions<T, K>,
  ): Promise<Pick<RowOf<T>, K>[]>;
  /** Gives the number of rows picked. */
  update(change: { where: Predicate; set: Partial<InsertOf<T>> }): Promise<number>;
  /**
   * Different values for many rows at once: each element is an id and the columns to set (every element sets the same
   * columns). Rows that are gone are skipped. Gives the number written.
   */
  updateEach(changes: readonly ({ id: number } & Partial<InsertOf<T>>)[]): Promise<number>;
  /** Gives the number of rows picked; what refers to them goes, is set to null or refuses, as the references say. */
  delete(where: Predicate): Promise<number>;
}

export interface UpsertOptions<T extends Table, K extends keyof RowOf<T> & string> {
  readonly on: readonly (keyof InsertOf<T> & string)[];
  readonly set?: readonly (keyof InsertOf<T> & string)[];
  readonly returning?: readonly K[];
}

export type Collections<S extends Tables> = { readonly [K in keyof S]: Collection<S[K]> };

export interface TxOptions {
  /** Transactions with the same key run one after the other on all servers. */
  readonly lock?: string;
  /** For reading only: everything is seen as it is at one moment. Says nothing inside another transaction. */
  readonly snapshot?: boolean;
}

export interface StoreControl<S extends Tables> {
  /** All or nothing. Inside, use only the store handed in. Transactions are short: no network, no files. May run `work` again after a conflict. */
  tx<R>(work: (store: Tx<S>) => Promise<R>, options?: TxOptions): Promise<R>;
  /** Sends a message to every server after the current transaction commits; this one has heard it when `tx` resolves. Payload at most 7,000 bytes. */
  notify(channel: string, payload: string): Promise<void>;
}

/** Collections and transaction-bound control: what logic takes, inside and outside of transactions. `tx` inside a tx joins it. */
export type Tx<S extends Tables> = Collections<S> & StoreControl<S>;

export type Store<S extends Tables> = Tx<S> & {
  readonly engine: "lowdb" | "postgres";
  readonly tables: S;
  /** Calls back for each message, until the returned function is called. `onReset` tells that messages may have been missed. */
  listen(channel: string, onMessage: (payload: string) => void, onReset?: () => void): Promise<() => Promise<void>>;
  /** Runs `onElected` while this server leads `name`; the signal aborts when it no longer does. Ends with the returned function. */
  lead(name: string, onElected: (lost: AbortSignal) => Promise<void>): Promise<() => Promise<void>>;
  /** Throws `StoreUnavailable` when reads or writes cannot be served now. */
  check(): Promise<void>;
  /** Figures for /metrics: journal size, pool use and the like. */
  stats(): Record<string, number>;
  close(): Promise<void>;
};

/** Two rows would have the same values in a unique set of columns. */
export class UniqueViolation extends Error {
  readonly table: string;
  readonly columns: readonly string[];

  constructor(table: string, columns: readonly string[]) {
    super(`${table}: a row with the same ${columns.join(", ")} exists`);
    this.table = table;
    this.columns = columns;
  }
}

/** A reference points at nothing, or a delete would leave one that does. */
export class ReferenceViolation extends Error {
  readonly table: string;
  readonly column: string;

  constructor(table: string, column: string) {
    super(`${table}.${column}: the row referred to does not exist, or is still in use`);
    this.table = table;
    this.column = column;
  }
}

/** The store cannot serve this now (disk full, database away): the caller may try again. Nothing of the call was kept. */
export class StoreUnavailable extends Error {}

/** The data on disk cannot be trusted: names the file and the offset in bytes. */
export class StoreDamaged extends Error {
  readonly file: string;
  readonly offset: number;

  constructor(file: string, offset: number, reason: string) {
    super(`${file} is damaged at byte ${offset}: ${reason}`);
    this.file = file;
    this.offset = offset;
  }
}
