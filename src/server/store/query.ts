// The query language of the store: predicates as data. Both engines give the same answer to each.
import type { Table } from "./table.ts";

export type Scalar = string | number | boolean;

/** A condition on a row. Null never satisfies eq, in, range or search; use `isNull`. `not` is two-valued: it picks what the inner one does not. */
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
  | { readonly op: "search"; readonly columns: readonly string[]; readonly text: string }
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
/** Equal; `null` means the column is null. */
export const eq = (column: string, value: Scalar | null): Predicate =>
  value === null ? { op: "null", column } : { op: "eq", column, value };
export const oneOf = (column: string, values: readonly Scalar[]): Predicate =>
  values.length === 0 ? nothing : { op: "in", column, values };
export const lt = (column: string, value: string | number): Predicate => ({ op: "lt", column, value });
export const lte = (column: string, value: string | number): Predicate => ({ op: "lte", column, value });
export const gt = (column: string, value: string | number): Predicate => ({ op: "gt", column, value });
export const gte = (column: string, value: string | number): Predicate => ({ op: "gte", column, value });
export const isNull = (column: string): Predicate => ({ op: "null", column });
/** An `ids` column that holds at least one of the values. */
export const has = (column: string, ...values: number[]): Predicate =>
  values.length === 0 ? nothing : { op: "has", column, values };
/** An `ids` column that holds at least one of the values that `from` has in the rows of `table` that satisfy `where`. */
export const hasOf = (column: string, table: Table, where: Predicate, from = "id"): Predicate => ({
  op: "hasOf",
  column,
  table,
  from,
  where,
});
/**
 * Substring of any text column, alike but for the case of A to Z; the text is literal. No index serves it: for what people search by there is
 * `search`. Empty text matches every value but null.
 */
export const contains = (column: string, text: string): Predicate => ({ op: "contains", column, text });
/** Case-insensitive substring in any of the columns (declared with `.search()`); the text is literal. Empty text matches everything. */
export const search = (columns: readonly string[], text: string): Predicate =>
  text === "" ? everything : { op: "search", columns, text };
export const and = (...parts: Predicate[]): Predicate => {
  const kept = parts.filter((part) => part.op !== "all");
  return kept.length === 0 ? everything : kept.length === 1 ? kept[0]! : { op: "and", parts: kept };
};
export const or = (...parts: Predicate[]): Predicate =>
  parts.length === 0 ? nothing : parts.length === 1 ? parts[0]! : { op: "or", parts };
export const not = (part: Predicate): Predicate => ({ op: "not", part });
/** At least one row of `table` has `column` equal to this row's `local` column (its id unless said) and satisfies `where`. */
export const exists = (table: Table, column: string, where: Predicate = everything, local = "id"): Predicate => ({
  op: "exists",
  table,
  column,
  where,
  local,
});

export type Direction = "asc" | "desc";

/**
 * One ordering term. Nulls sort as greater than everything: last ascending, first descending. Text sorts by code point.
 * With `of`, the column is that of the row of table `of` whose id equals this row's `on` column (null where there is none).
 */
export interface OrderTerm {
  readonly column: string;
  readonly direction: Direction;
  readonly of?: Table;
  readonly on?: string;
}

/** A position in an ordered list: the row's value of each ordering term, then its id. */
export type Position = readonly (Scalar | null)[];

export interface Select {
  readonly where?: Predicate;
  /** Ties are always broken by id in the direction of the last term (ascending without terms). */
  readonly order?: readonly OrderTerm[];
  readonly limit?: number;
  readonly offset?: number;
  /** Only rows strictly after this position in the order (keyset paging). */
  readonly after?: Position;
}
