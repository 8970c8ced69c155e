// Paging of all lists.
import type { CursorMeta, Meta } from "../../../../api/fields.ts";
import type { Scalar } from "../../store/query.ts";
import {
  and,
  type Direction,
  eq,
  everything,
  gt,
  lt,
  nothing,
  type OrderTerm,
  type Predicate,
} from "../../store/query.ts";
import type { Collection } from "../../store/store.ts";
import type { ColumnSpec, RowOf, Table } from "../../store/table.ts";
import { badRequest } from "../errors.ts";

interface CursorQuery extends PageQuery {
  cursor?: string | undefined;
}

export interface PageQuery {
  page?: number | undefined;
  per_page?: number | undefined;
  order_key?: string | undefined;
  order_direction?: Direction | undefined;
  after?: string | undefined;
}

export const DEFAULT_PER_PAGE = 20;
/** Maximum number of rows in one reply. */
const ROW_CAP = 1_000_000;

export interface PageOptions {
  /** Order if the query does not name one (default: id ascending). */
  readonly defaultOrder?: readonly OrderTerm[];
  /** Order terms for keys that are not columns of the table. */
  readonly orderBy?: (key: string, direction: Direction) => OrderTerm | undefined;
  /** See `Select`. */
  readonly few?: boolean;
}

/** Offset and limit of a page; without paging parameters there is no limit but the row cap. */
export function windowOf(query: PageQuery): { offset: number; limit: number; paged: boolean } {
  if (query.page === undefined && query.per_page === undefined) return { offset: 0, limit: ROW_CAP, paged: false };
  const limit = Math.min(query.per_page ?? DEFAULT_PER_PAGE, ROW_CAP);
  return { offset: Math.min((query.page ?? 0) * limit, Number.MAX_SAFE_INTEGER), limit, paged: true };
}

export const metaOf = (offset: number, limit: number, count: number): Meta => ({
  has_next_results: count > limit,
  has_previous_results: offset > 0,
});

/** A page of rows, and whether there are more rows before and after it. */
export async function page<T extends Table>(
  rows: Collection<T>,
  query: PageQuery,
  where: Predicate,
  options: PageOptions = {},
): Promise<{ rows: RowOf<T>[]; meta: Meta }> {
  const { offset, limit } = windowOf(query);
  const order = orderOf(query, options);
  const past = afterOf(rows.table, query, options);
  const { few = false } = options;
  const matches = await rows.list({ where: and(where, past), order, offset, limit: limit + 1, transient: true, few });
  return { rows: matches.slice(0, limit), meta: metaOf(offset, limit, matches.length) };
}

/**
 * A page by cursor, ordered by id. Ids never change, so each row that exists during the whole listing is returned
 * exactly once. An empty cursor starts the listing; `next_cursor` is null at the end.
 */
export async function cursorPage<T extends Table>(
  rows: Collection<T>,
  query: CursorQuery,
  where: Predicate,
): Promise<{ rows: RowOf<T>[]; meta: CursorMeta }> {
  if (query.page !== undefined) throw badRequest("cursor cannot be used with page", "cursor");
  if (query.after !== undefined) throw badRequest("cursor cannot be used with after", "cursor");
  if (query.order_key !== undefined && query.order_key !== "id")
    throw badRequest(`cursor lists in the order of id, not of ${query.order_key}`, "cursor");
  const direction = query.order_direction ?? "asc";
  const past = query.cursor ? readCursor(rows.table.name, direction, query.cursor) : null;
  const limit = Math.min(query.per_page ?? DEFAULT_PER_PAGE, ROW_CAP);
  const matches = await rows.list({
    where,
    order: [{ column: "id", direction }],
    limit: limit + 1,
    transient: true,
    ...(past === null ? {} : { after: [past, past] }),
  });
  const kept = matches.slice(0, limit);
  const last = kept.at(-1) as { id: number } | undefined;
  const more = matches.length > limit && last !== undefined;
  const next = more ? writeCursor(rows.table.name, direction, last.id) : null;
  return { rows: kept, meta: { has_next_results: more, has_previous_results: past !== null, next_cursor: next } };
}

const writeCursor = (table: string, direction: Direction, id: number): string =>
  Buffer.from(`${table} ${direction} ${id}`).toString("base64url");

function readCursor(table: string, direction: Direction, cursor: string): number {
  const [list, way, id = "", more] = Buffer.from(cursor, "base64url").toString("latin1").split(" ");
  const value = /^\d{1,16}$/.test(id) ? Number(id) : Number.NaN;
  if (list !== table || way !== direction || more !== undefined || !Number.isSafeInteger(value))
    throw badRequest(`Invalid cursor: ${cursor}`, "cursor");
  return value;
}

/** A page of an array that is complete and already sorted. */
export function pageOfArray<T>(items: readonly T[], query: PageQuery): { items: T[]; meta: Meta } {
  const { offset, limit } = windowOf(query);
  return { items: items.slice(offset, offset + limit), meta: metaOf(offset, limit, items.length - offset) };
}

export function orderOf(query: PageQuery, options: PageOptions): readonly OrderTerm[] {
  if (query.order_key === undefined) return options.defaultOrder ?? [{ column: "id", direction: "asc" }];
  const direction = query.order_direction ?? "asc";
  return [options.orderBy?.(query.order_key, direction) ?? { column: query.order_key, direction }];
}

/** The predicate for rows after the query's `after` value. */
export function afterOf(table: Table, query: PageQuery, options: PageOptions = {}): Predicate {
  return query.after === undefined ? everything : afterPredicate(table, query, orderOf(query, options)[0]!);
}

function afterPredicate(table: Table, query: PageQuery, term: OrderTerm): Predicate {
  const spec = (term.of ?? table).columns[term.column]?.spec;
  if (!spec || term.of) throw badRequest(`after cannot be used with order_key ${query.order_key}`, "after");
  const value = parseScalar(spec, query.after!);
  if (value === null) throw badRequest(`Invalid after: ${query.after}`, "after");
  // After false comes true, and after true nothing (null is never after a value).
  if (typeof value === "boolean") return value === (term.direction === "desc") ? eq(term.column, !value) : nothing;
  return term.direction === "asc" ? gt(term.column, value) : lt(term.column, value);
}

function parseScalar(spec: ColumnSpec, textValue: string): Scalar | null {
  switch (spec.kind) {
    case "text":
      return textValue;
    case "time": {
      const at = Date.parse(textValue);
      return Number.isNaN(at) ? null : new Date(at).toISOString();
    }
    case "bool":
      return textValue === "true" ? true : textValue === "false" ? false : null;
    default: {
      const number = textValue.trim() === "" ? Number.NaN : Number(textValue);
      return Number.isFinite(number) ? number : null;
    }
  }
}
