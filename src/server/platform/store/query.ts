// The query language of the store: predicates are data. Both engines return the same rows for the same predicate.
import type { Table } from "./table.ts";

export type Scalar = string | number | boolean;

/**
 * A condition on a row. A null value never matches eq, in, range, has, contains or search; use `isNull`. `not`
 * matches every row that its inner predicate does not match, including rows with nulls.
 */
export type Predicate =
  | { readonly op: "all" }
  | { readonly op: "none" }
  | { readonly op: "eq"; readonly column: string; readonly value: Scalar }
  | { readonly op: "in"; readonly column: string; readonly values: readonly Scalar[] }
  | { readonly op: "lt" | "lte" | "gt" | "gte"; readonly column: string; readonly value: string | number }
  | { readonly op: "null"; readonly column: string }
  | { readonly op: "has"; readonly column: string; readonly values: readonly number[] }
  | {
      readonly op: "hasOf";
      readonly column: string;
      readonly table: Table;
      readonly from: string;
      readonly where: Predicate;
    }
  | { readonly op: "contains"; readonly column: string; readonly text: string }
  | { readonly op: "same"; readonly column: string; readonly texts: readonly string[] }
  | { readonly op: "search"; readonly columns: readonly string[]; readonly text: string; readonly at?: "start" }
  | { readonly op: "and" | "or"; readonly parts: readonly Predicate[] }
  | { readonly op: "not"; readonly part: Predicate }
  | {
      readonly op: "exists";
      readonly table: Table;
      readonly column: string;
      readonly where: Predicate;
      readonly local: string;
    };

export const everything: Predicate = { op: "all" };
export const nothing: Predicate = { op: "none" };
/** Matches equal values. With `null`, it matches rows whose column is null. */
export const eq = (column: string, value: Scalar | null): Predicate =>
  value === null ? { op: "null", column } : { op: "eq", column, value };
export const oneOf = (column: string, values: readonly Scalar[]): Predicate =>
  values.length === 0 ? nothing : { op: "in", column, values };
export const lt = (column: string, value: string | number): Predicate => ({ op: "lt", column, value });
export const lte = (column: string, value: string | number): Predicate => ({ op: "lte", column, value });
export const gt = (column: string, value: string | number): Predicate => ({ op: "gt", column, value });
export const gte = (column: string, value: string | number): Predicate => ({ op: "gte", column, value });
export const isNull = (column: string): Predicate => ({ op: "null", column });
/** Matches if the `ids` column contains at least one of the values. */
export const has = (column: string, ...values: number[]): Predicate =>
  values.length === 0 ? nothing : { op: "has", column, values };
/** Matches if the `ids` column contains the `from` value of at least one row of `table` that matches `where`. */
export const hasOf = (column: string, table: Table, where: Predicate, from = "id"): Predicate => ({
  op: "hasOf",
  column,
  table,
  from,
  where,
});
/**
 * Substring match in any text column. Case is ignored for the letters A to Z only; the text has no wildcards. No
 * index supports it: use `search` for columns that users search by. Empty text matches every value except null.
 */
export const contains = (column: string, text: string): Predicate => ({ op: "contains", column, text });
/** Matches text equal to one of the texts, ignoring case. The column must be declared with `.search()`. */
export const same = (column: string, ...texts: string[]): Predicate =>
  texts.length === 0 ? nothing : { op: "same", column, texts };
/**
 * Case-insensitive substring match in any of the columns, which must be declared with `.search()`. The text has no
 * wildcards. Empty text matches every row.
 */
export const search = (columns: readonly string[], text: string): Predicate =>
  text === "" ? everything : { op: "search", columns, text };
/** A `search` that matches only at the start of a column. */
export const startsWith = (columns: readonly string[], text: string): Predicate =>
  text === "" ? everything : { op: "search", columns, text, at: "start" };
export const and = (...parts: Predicate[]): Predicate => {
  const kept = parts.filter((part) => part.op !== "all");
  return kept.length === 0 ? everything : kept.length === 1 ? kept[0]! : { op: "and", parts: kept };
};
export const or = (...parts: Predicate[]): Predicate =>
  parts.length === 0 ? nothing : parts.length === 1 ? parts[0]! : { op: "or", parts };
export const not = (part: Predicate): Predicate => ({ op: "not", part });
/**
 * Matches if `table` has at least one row that matches `where` and whose `column` equals this row's `local` column
 * (default: its id).
 */
export const exists = (table: Table, column: string, where: Predicate = everything, local = "id"): Predicate => ({
  op: "exists",
  table,
  column,
  where,
  local,
});

export type Direction = "asc" | "desc";

/**
 * One ordering term. Null sorts as the greatest value: last when ascending, first when descending. Text sorts by code
 * point. With `of`, rows are sorted by `column` of the row in table `of` whose id equals this row's `on` column (null
 * if there is no such row).
 */
export interface OrderTerm {
  readonly column: string;
  readonly direction: Direction;
  readonly of?: Table;
  readonly on?: string;
}

/** A position in an ordered list: the row's value for each ordering term, followed by its id. */
export type Position = readonly (Scalar | null)[];

export interface Select {
  readonly where?: Predicate;
  /** Ties are always broken by id, in the direction of the last term (ascending if there are no terms). */
  readonly order?: readonly OrderTerm[];
  readonly limit?: number;
  readonly offset?: number;
  /** Returns only rows strictly after this position (keyset paging). */
  readonly after?: Position;
  /**
   * The rows are used at once and nothing of them is kept, which lets an engine read wide rows faster: a text that is
   * kept may keep the memory of its whole row.
   */
  readonly transient?: boolean;
  /** A hint: few rows match, so that an engine does better to find all of them before it orders them. */
  readonly few?: boolean;
}

/** The columns of `pages` if some are chosen: these, the id, and those that the order reads. */
export const columnsOfPages = (columns: readonly string[], order: readonly OrderTerm[] = []): string[] => [
  ...new Set([...columns, "id", ...order.map(({ column, of, on = "id" }) => (of ? on : column))]),
];
