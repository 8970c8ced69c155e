import { cleanText } from "../../store/rows.ts";

/** One row of a query's answer. Cells are text in nearly all agents; nothing else is promised. */
export type Row = Readonly<Record<string, unknown>>;

/** What came back for one detail query. Only `ok` answers are ingested. */
export interface DetailResult {
  readonly ok: boolean;
  readonly rows: readonly Row[];
  /** The rows as JSON, of a query that said it came back ok, until one of the others is asked for. */
  readonly unread?: string;
}

/** By query key, without the wire prefix. A query that was skipped on the host is absent. */
export type DetailResults = ReadonlyMap<string, DetailResult>;

/** Something in an answer that was passed over; `query` is the query key. */
export interface InventoryWarning {
  readonly query: string;
  readonly reason: string;
}
export type Warn = (query: string, reason: string) => void;

export const DETAIL_PREFIX = "svc_detail_query_";

/** Longest text kept of a field. Indexed columns must stay below what a database index can hold. */
export const TEXT_MAX = 255;

const isObject = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);

/** The rows of an answer: not an array (old agents send "" for none) is no rows, a row that is not an object is skipped. */
export function rowsOf(value: unknown): readonly Row[] {
  if (!Array.isArray(value)) return [];
  return value.every(isObject) ? value : value.filter(isObject);
}

/** Whether a status says success: 0 as number or text, or absent. */
export const isOk = (status: unknown): boolean =>
  status === undefined || status === null || status === 0 || status === "" || Number(scalarText(status) || NaN) === 0;

/** The detail answers in a distributed write. */
export function detailResults(write: { readonly queries?: unknown; readonly statuses?: unknown }): DetailResults {
  const results = new Map<string, DetailResult>();
  const statuses = isObject(write.statuses) ? write.statuses : {};
  if (isObject(write.queries))
    for (const name of Object.keys(write.queries))
      if (name.startsWith(DETAIL_PREFIX))
        results.set(name.slice(DETAIL_PREFIX.length), {
          ok: isOk(Object.hasOwn(statuses, name) ? statuses[name] : undefined),
          rows: rowsOf(write.queries[name]),
        });
  // A failed query may come with a status and no rows entry.
  for (const name of Object.keys(statuses)) {
    if (!name.startsWith(DETAIL_PREFIX)) continue;
    const key = name.slice(DETAIL_PREFIX.length);
    if (!results.has(key)) results.set(key, { ok: isOk(statuses[name]), rows: [] });
  }
  return results;
}

/** The rows of a query that came back ok, or null: keep what was known. */
export function okRows(results: DetailResults, key: string): readonly Row[] | null {
  const result = results.get(key);
  return result?.ok ? result.rows : null;
}

/** The row of a query that must give exactly one. Any other number is told and nothing is changed. */
export function singleRow(results: DetailResults, key: string, warn: Warn): Row | null {
  const rows = okRows(results, key);
  if (rows === null) return null;
  if (rows.length === 1) return rows[0] ?? null;
  warn(key, `expected one row, got ${rows.length}`);
  return null;
}

function scalarText(cell: unknown): string {
  if (typeof cell === "string") return cell;
  if (typeof cell === "number") return String(cell);
  if (typeof cell === "boolean") return cell ? "1" : "0";
  return "";
}

/** A cell of an answer that is kept as it came: what is no text as JSON. Null: nested more deeply than can be written. */
export function cellText(cell: unknown): string | null {
  if (typeof cell === "string") return cell;
  if (cell === null || cell === undefined) return "";
  try {
    return JSON.stringify(cell);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Well-formed text of at most `max` UTF-16 units, never cut inside a pair. */
export function clip(value: string, max: number = TEXT_MAX): string {
  if (value.length <= max) return cleanText(value);
  const last = value.charCodeAt(max - 1);
  return cleanText(value.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max));
}

/** The text of a column; "" when it is absent, null or no scalar. */
export const text = (row: Row, column: string, max: number = TEXT_MAX): string => clip(scalarText(row[column]), max);

/** Whether the agent sent the column at all: columns vary by agent version. */
export const has = (row: Row, column: string): boolean => Object.hasOwn(row, column);
