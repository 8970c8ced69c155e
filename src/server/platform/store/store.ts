// The storage contract that both engines implement. Features use storage only through it.
import type { LockName } from "./locks.ts";
import type { OrderTerm, Position, Predicate, Scalar, Select } from "./query.ts";
import type { Batch, Sides, SidesOf } from "./sides.ts";
import type { InsertOf, RowOf, Table } from "./table.ts";

// biome-ignore lint/suspicious/noExplicitAny: tables of any columns, as a bound only
export type Tables = Record<string, Table<any>>;

export interface Collection<T extends Table = Table> {
  readonly table: T;
  /** Returns the row, or null if there is none. */
  get(id: number): Promise<RowOf<T> | null>;
  getMany(ids: readonly number[]): Promise<RowOf<T>[]>;
  /** For each of the ids, in their order, the rows with this id in tables that share this table's ids. One read. */
  sides<S extends Sides>(ids: readonly number[], sides: S): Promise<SidesOf<S>[]>;
  /** Returns the first matching row in the given order, or null. */
  first(select: Select): Promise<RowOf<T> | null>;
  list(select?: Select): Promise<RowOf<T>[]>;
  /** Returns only the chosen columns. Meant for wide tables and frequently read lists. */
  pick<K extends keyof RowOf<T> & string>(columns: readonly K[], select?: Select): Promise<Pick<RowOf<T>, K>[]>;
  /**
   * Returns rows in pages of at most `pageSize` (default 500), each row once, by id or in `order`. Memory use does
   * not grow with the number of rows. If columns are chosen, the rows have these, their id, and the columns that the
   * order reads.
   */
  pages<K extends keyof RowOf<T> & string = keyof RowOf<T> & string>(
    select?: Select,
    pageSize?: number,
    columns?: readonly K[],
  ): AsyncIterable<Pick<RowOf<T>, K>[]>;
  /**
   * `pages` for rows that are rendered together with their rows in side tables. The rows have at least the chosen
   * columns.
   */
  batches<K extends keyof RowOf<T> & string, S extends Sides>(
    columns: readonly K[],
    sides: S,
    select?: Select,
    pageSize?: number,
  ): AsyncIterable<Batch<Pick<RowOf<T>, K>, SidesOf<S>>>;
  /** Returns the row's position in that order, for `Select.after`. */
  positionOf(row: RowOf<T>, order: readonly OrderTerm[]): Promise<Position>;
  count(where?: Predicate): Promise<number>;
  /**
   * Counts the rows per value of the column: highest count first, then by value. In an `ids` column each member is
   * counted.
   */
  groupCount(column: keyof RowOf<T> & string, where?: Predicate): Promise<{ value: Scalar | null; count: number }[]>;
  max(column: keyof RowOf<T> & string, where?: Predicate): Promise<Scalar | null>;

  insert(row: InsertOf<T>): Promise<RowOf<T>>;
  /** Returns the rows, or of each the columns in `returning`: pass an empty list if the result is not used. */
  insertMany<K extends keyof RowOf<T> & string = keyof RowOf<T> & string>(
    rows: readonly InsertOf<T>[],
    options?: { readonly returning: readonly K[] },
  ): Promise<Pick<RowOf<T>, K>[]>;
  /**
   * Inserts each row, or updates the row that has the same values in `on` (a unique set of columns, or `["id"]`).
   * `set` names the columns that an update writes (default: all given columns except `on`). A row that would not
   * change is not written and keeps its revision. If `on` values repeat within `rows`, the last one wins. Returns the
   * rows as stored afterwards, in the order given. The engine chooses the order of the writes within one call, so
   * moving a unique value from one row to another in the same call can throw `UniqueViolation`. `returning` names the
   * columns to return (default: all); pass an empty list if the result is not used.
   */
  upsert<K extends keyof RowOf<T> & string = keyof RowOf<T> & string>(
    rows: readonly InsertOf<T>[],
    options: UpsertOptions<T, K>,
  ): Promise<Pick<RowOf<T>, K>[]>;
  /** Returns the number of matching rows. */
  update(change: { where: Predicate; set: Partial<InsertOf<T>> }): Promise<number>;
  /**
   * Sets different values on many rows at once. Each element is an id and the columns to set; every element sets the
   * same columns. Rows that no longer exist are skipped. Returns the number of rows written.
   */
  updateEach(changes: readonly ({ id: number } & Partial<InsertOf<T>>)[]): Promise<number>;
  /**
   * Returns the number of matching rows. Rows that refer to them are deleted, set to null or block the delete, as the
   * reference declares (`onDelete`).
   */
  delete(where: Predicate): Promise<number>;
}

export interface UpsertOptions<T extends Table, K extends keyof RowOf<T> & string> {
  readonly on: readonly (keyof InsertOf<T> & string)[];
  readonly set?: readonly (keyof InsertOf<T> & string)[];
  readonly returning?: readonly K[];
}

export type Collections<S extends Tables> = { readonly [K in keyof S]: Collection<S[K]> };

export interface TxOptions {
  /**
   * Transactions with the same lock run one after the other, across all servers. Several are taken in their order: see
   * `locks.ts` for it.
   */
  readonly lock?: LockName | readonly LockName[];
  /** For reading only: all reads see the same snapshot. Ignored inside another transaction. */
  readonly snapshot?: boolean;
  /**
   * A failed write ends the transaction, even if the caller catches the error. On Postgres this saves a savepoint, and
   * so a round trip, for each write. Ignored inside another transaction.
   */
  readonly failFast?: boolean;
}

export interface StoreControl<S extends Tables> {
  /**
   * Runs `work` as one transaction. Inside, use only the store that is passed in. Keep it short: no network or file
   * access. `work` may run again after a conflict.
   */
  tx<R>(work: (store: Tx<S>) => Promise<R>, options?: TxOptions): Promise<R>;
  /**
   * For reading only: of what `work` requests at the same time, an engine may read all with one round trip. There is no
   * common snapshot. Nothing but these reads may be awaited in it.
   */
  readTogether<R>(work: (store: Collections<S>) => Promise<R>): Promise<R>;
  /**
   * Sends a message to every server after the current transaction commits. This server's own listeners have run when
   * `tx` resolves. The payload may have at most 7,000 bytes.
   */
  notify(channel: string, payload: string): Promise<void>;
}

/**
 * Collections and transaction control: the type that services take, inside and outside of transactions. A nested `tx`
 * joins the outer one.
 */
export type Tx<S extends Tables> = Collections<S> & StoreControl<S>;

export type Store<S extends Tables> = Tx<S> & {
  readonly engine: "lowdb" | "postgres";
  readonly tables: S;
  /**
   * Calls `onMessage` for each message until the returned function is called. `onReset` is called when messages may
   * have been missed.
   */
  listen(channel: string, onMessage: (payload: string) => void, onReset?: () => void): Promise<() => Promise<void>>;
  /**
   * Runs `onElected` while this server is the leader for `name`. The signal aborts when leadership is lost. The
   * returned function stops taking part.
   */
  lead(name: string, onElected: (lost: AbortSignal) => Promise<void>): Promise<() => Promise<void>>;
  /** Throws `StoreUnavailable` if reads or writes cannot be served at the moment. */
  check(): Promise<void>;
  /** Values for /metrics, such as journal size and pool use. */
  stats(): Record<string, number>;
  close(): Promise<void>;
};

/** A write would give two rows the same values in a unique set of columns. */
export class UniqueViolation extends Error {
  readonly table: string;
  readonly columns: readonly string[];

  constructor(table: string, columns: readonly string[]) {
    super(`${table}: a row with the same ${columns.join(", ")} exists`);
    this.table = table;
    this.columns = columns;
  }
}

/** A reference points to a row that does not exist, or a delete would leave such a reference behind. */
export class ReferenceViolation extends Error {
  readonly table: string;
  readonly column: string;

  constructor(table: string, column: string) {
    super(`${table}.${column}: the row referred to does not exist, or is still in use`);
    this.table = table;
    this.column = column;
  }
}

/**
 * The store cannot serve the call at the moment (disk full, database unreachable). Nothing of the call was stored;
 * the caller may retry.
 */
export class StoreUnavailable extends Error {}

/** The data on disk is corrupt. The error names the file and the byte offset. */
export class StoreDamaged extends Error {
  readonly file: string;
  readonly offset: number;

  constructor(file: string, offset: number, reason: string, message?: string) {
    super(message ?? `${file} is damaged at byte ${offset}: ${reason}`);
    this.file = file;
    this.offset = offset;
  }
}
