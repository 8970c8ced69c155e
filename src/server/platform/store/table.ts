// How a feature declares its tables. Both engines read these declarations; a table is described nowhere else.

export type ColumnKind = "id" | "ref" | "text" | "int" | "real" | "bool" | "time" | "json" | "packed" | "ids";
export type OnDelete = "cascade" | "null" | "restrict";

export interface ColumnSpec {
  readonly kind: ColumnKind;
  readonly nullable: boolean;
  readonly indexed: boolean;
  readonly unique: boolean;
  /**
   * Lists are sorted by this column. An engine creates an index if it needs one (in memory, sorting is fast enough
   * without).
   */
  readonly ordered: boolean;
  readonly searchable: boolean;
  /** Rows are looked up with `same()`. */
  readonly sameIndexed: boolean;
  /** Encrypted at rest with the server key. Never indexed or compared. */
  readonly secret: boolean;
  /** The table that a `ref`, `ids` or shared `id` column refers to. */
  readonly to: string | null;
  readonly onDelete: OnDelete;
  /** The default value that the store uses if an insert leaves the column out. */
  readonly fallback: unknown;
  readonly hasFallback: boolean;
}

/** One column. `T` is the type of its value; `Opt` is true if an insert may leave it out. */
export class Column<T, Opt extends boolean = false> {
  declare readonly type: T;
  declare readonly optional: Opt;
  readonly spec: ColumnSpec;

  constructor(spec: ColumnSpec) {
    this.spec = spec;
  }

  #with<U = T, O extends boolean = Opt>(change: Partial<ColumnSpec>): Column<U, O> {
    return new Column<U, O>({ ...this.spec, ...change });
  }

  /**
   * A missing value is `null`; the key is always present. A nullable reference is set to null when the row it refers
   * to is deleted.
   */
  nullable(): Column<T | null, true> {
    const onDelete = this.spec.kind === "ref" ? "null" : this.spec.onDelete;
    return this.#with({ nullable: true, hasFallback: true, fallback: null, onDelete });
  }
  index(): Column<T, Opt> {
    return this.#with({ indexed: true });
  }
  /**
   * Lists are sorted by this column, but no rows are looked up by it. It is indexed only where sorting all rows is
   * slow.
   */
  ordered(): Column<T, Opt> {
    return this.#with({ ordered: true });
  }
  /** No two rows may have the same value. Several rows may have null. */
  unique(): Column<T, Opt> {
    return this.#with({ unique: true, indexed: true });
  }
  /** Allows the column in `search()` (case-insensitive substring match). Indexed if the engine supports it. */
  search(): Column<T, Opt> {
    return this.#with({ searchable: true });
  }
  /** `search()`, and indexed for `same()` (equal without regard to case). */
  same(): Column<T, Opt> {
    return this.#with({ searchable: true, sameIndexed: true });
  }
  secret(): Column<T, Opt> {
    return this.#with({ secret: true });
  }
  default(value: T): Column<T, true> {
    return this.#with({ hasFallback: true, fallback: value });
  }
  onDelete(rule: OnDelete): Column<T, Opt> {
    return this.#with({ onDelete: rule });
  }
}

const column = <T>(kind: ColumnKind, change: Partial<ColumnSpec> = {}): Column<T> =>
  new Column<T>({
    kind,
    nullable: false,
    indexed: false,
    unique: false,
    ordered: false,
    searchable: false,
    sameIndexed: false,
    secret: false,
    to: null,
    onDelete: "cascade",
    fallback: null,
    hasFallback: false,
    ...change,
  });

/** The row's own id: a positive integer that the store assigns and never reuses. */
export const id = () => new Column<number, true>({ ...column<number>("id").spec, hasFallback: true });
/** A one-to-one side table: the row has the same id as its row in `table` and is deleted with it. */
export const idOf = (table: string) => column<number>("id", { to: table });
/**
 * A reference to the id of another table, indexed. By default the row is deleted together with the row it refers to.
 */
export const ref = (table: string) => column<number>("ref", { to: table, indexed: true });
/** Text. Lone surrogates and NUL are stored as U+FFFD. Sorted by code point. */
export const text = <T extends string = string>() => column<T>("text");
/** A safe integer (|n| <= 2^53 - 1). */
export const int = () => column<number>("int");
/** A finite double. */
export const real = () => column<number>("real");
export const bool = () => column<boolean>("bool");
/** An instant as ISO 8601 text in UTC with milliseconds, e.g. `2026-01-01T00:00:00.000Z`. */
export const time = () => column<string>("time");
/** Any JSON value, stored completely and with its key order. Never compared. */
export const json = <T>() => column<T>("json");
/** A large JSON value that is read only one row at a time, so the engines store it compressed. Never compared. */
export const packed = <T>() => column<T>("packed");
/** A sorted set of ids of another table, without foreign keys: for many-to-many relations with millions of pairs. */
export const ids = (table: string) => column<readonly number[]>("ids", { to: table });

/**
 * The column that every table has in addition to the declared ones. Every write increases it; it can be queried like
 * any other column.
 */
export const revisionColumn: ColumnSpec = int().default(1).spec;

// biome-ignore lint/suspicious/noExplicitAny: a column of any type, as a bound only
export type Columns = Record<string, Column<any, boolean>>;

interface TableOptions {
  /** Sets of columns that are unique together. Null counts as a value here: two rows that both have null conflict. */
  readonly unique?: readonly (readonly string[])[];
  readonly indexes?: readonly (readonly string[])[];
}

export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly columns: C;
  /** The columns in declared order, listed once: writes go through them for each row. */
  readonly specs: readonly (readonly [name: string, spec: ColumnSpec])[];
  readonly unique: readonly (readonly string[])[];
  readonly indexes: readonly (readonly string[])[];
}

type Simplify<T> = { [K in keyof T]: T[K] } & {};
type OptionalKeys<C extends Columns> = { [K in keyof C]: C[K] extends Column<infer _, true> ? K : never }[keyof C];

/** A row as read. `revision` starts at 1 and increases with every write of the row. */
export type RowOf<T extends Table> = Simplify<
  { [K in keyof T["columns"]]: T["columns"][K]["type"] } & { revision: number }
>;
/** The input of an insert: nullable columns, columns with a default and the id are optional. */
export type InsertOf<T extends Table> = Simplify<
  { [K in Exclude<keyof T["columns"], OptionalKeys<T["columns"]>>]: T["columns"][K]["type"] } & {
    [K in OptionalKeys<T["columns"]>]?: T["columns"][K]["type"];
  }
>;

/** Declares a table. Every table needs an `id` column; the store adds `revision`. */
export function table<C extends Columns & { id: Column<number, boolean> }>(
  name: string,
  columns: C,
  options: TableOptions = {},
): Table<C> {
  const specs = Object.entries(columns).map(([column, { spec }]) => [column, spec] as const);
  return { name, columns, specs, unique: options.unique ?? [], indexes: options.indexes ?? [] };
}
