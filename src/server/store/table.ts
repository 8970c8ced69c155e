// How a feature declares the rows it keeps. Both engines read these declarations; nothing else describes a table.

export type ColumnKind = "id" | "ref" | "text" | "int" | "real" | "bool" | "time" | "json" | "packed" | "ids";
export type OnDelete = "cascade" | "null" | "restrict";

export interface ColumnSpec {
  readonly kind: ColumnKind;
  readonly nullable: boolean;
  readonly indexed: boolean;
  readonly unique: boolean;
  /** Lists are ordered by it: indexed where that is what it takes (in memory sorting is quick). */
  readonly ordered: boolean;
  readonly searchable: boolean;
  /** Encrypted at rest by the engines with the server key; never indexed or compared. */
  readonly secret: boolean;
  /** The table that a `ref`, `ids` or shared `id` column points at. */
  readonly to: string | null;
  readonly onDelete: OnDelete;
  /** Filled in by the store when an insert leaves the column out. */
  readonly fallback: unknown;
  readonly hasFallback: boolean;
}

/** One column. `T` is the value in a row, `Opt` is true when an insert may leave it out. */
export class Column<T, Opt extends boolean = false> {
  declare readonly type: T;
  declare readonly optional: Opt;
  readonly spec: ColumnSpec;

  constructor(spec: ColumnSpec) {
    this.spec = spec;
  }

  private with<U = T, O extends boolean = Opt>(change: Partial<ColumnSpec>): Column<U, O> {
    return new Column<U, O>({ ...this.spec, ...change });
  }

  /** Absent is `null`; a row always has the key. A reference that may be null is set to null when its target goes. */
  nullable(): Column<T | null, true> {
    const onDelete = this.spec.kind === "ref" ? "null" : this.spec.onDelete;
    return this.with({ nullable: true, hasFallback: true, fallback: null, onDelete });
  }
  index(): Column<T, Opt> {
    return this.with({ indexed: true });
  }
  /** Lists are ordered by it, but nothing is looked up by it: indexed where sorting all rows is slow. */
  ordered(): Column<T, Opt> {
    return this.with({ ordered: true });
  }
  /** No two rows have the same value; nulls do not clash. */
  unique(): Column<T, Opt> {
    return this.with({ unique: true, indexed: true });
  }
  /** The column can be named in `search()`: case-insensitive substring, indexed where the engine can. */
  search(): Column<T, Opt> {
    return this.with({ searchable: true });
  }
  secret(): Column<T, Opt> {
    return this.with({ secret: true });
  }
  default(value: T): Column<T, true> {
    return this.with({ hasFallback: true, fallback: value });
  }
  onDelete(rule: OnDelete): Column<T, Opt> {
    return this.with({ onDelete: rule });
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
    secret: false,
    to: null,
    onDelete: "cascade",
    fallback: null,
    hasFallback: false,
    ...change,
  });

/** The row's own id: a positive integer given by the store, never reused. */
export const id = () => new Column<number, true>({ ...column<number>("id").spec, hasFallback: true });
/** The row shares the id of the row in `table` that it belongs to, and goes with it (a one-to-one side table). */
export const idOf = (table: string) => column<number>("id", { to: table });
/** A reference to another table's id. Indexed. By default the row goes when its target goes. */
export const ref = (table: string) => column<number>("ref", { to: table, indexed: true });
/** Text. Stored well-formed and without NUL (both become U+FFFD). Orders by code point. */
export const text = <T extends string = string>() => column<T>("text");
/** A safe integer (|n| <= 2^53 - 1). */
export const int = () => column<number>("int");
/** A finite double. */
export const real = () => column<number>("real");
export const bool = () => column<boolean>("bool");
/** An instant as ISO 8601 text in UTC with milliseconds, e.g. `2026-01-01T00:00:00.000Z`. */
export const time = () => column<string>("time");
/** Any JSON value, kept whole and with its key order. Never compared. */
export const json = <T>() => column<T>("json");
/** A large JSON value that is only read one row at a time: the engines keep it compressed. Never compared. */
export const packed = <T>() => column<T>("packed");
/** A sorted set of ids of another table, without foreign keys: many-to-many where the pairs run into millions. */
export const ids = (table: string) => column<readonly number[]>("ids", { to: table });

/** The column that every table has beside its own: raised by each write of the row, and asked for like any other. */
export const revisionColumn: ColumnSpec = int().default(1).spec;

// biome-ignore lint/suspicious/noExplicitAny: a column of any type, as a bound only
export type Columns = Record<string, Column<any, boolean>>;

export interface TableOptions {
  /** Sets of columns that are unique together. Here a null counts as a value: two rows with null clash. */
  readonly unique?: readonly (readonly string[])[];
  readonly indexes?: readonly (readonly string[])[];
}

export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly columns: C;
  readonly unique: readonly (readonly string[])[];
  readonly indexes: readonly (readonly string[])[];
}

type Simplify<T> = { [K in keyof T]: T[K] } & {};
type OptionalKeys<C extends Columns> = { [K in keyof C]: C[K] extends Column<infer _, true> ? K : never }[keyof C];

/** A row as read. `revision` starts at 1 and is raised by every write of the row. */
export type RowOf<T extends Table> = Simplify<
  { [K in keyof T["columns"]]: T["columns"][K]["type"] } & { revision: number }
>;
/** What an insert takes: nullable columns, columns with a default and the id may be left out. */
export type InsertOf<T extends Table> = Simplify<
  { [K in Exclude<keyof T["columns"], OptionalKeys<T["columns"]>>]: T["columns"][K]["type"] } & {
    [K in OptionalKeys<T["columns"]>]?: T["columns"][K]["type"];
  }
>;

/** Declares a table. Every table has an `id` column; `revision` is added by the store. */
export function table<C extends Columns & { id: Column<number, boolean> }>(
  name: string,
  columns: C,
  options: TableOptions = {},
): Table<C> {
  return { name, columns, unique: options.unique ?? [], indexes: options.indexes ?? [] };
}
