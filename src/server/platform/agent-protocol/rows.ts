import { isRecord } from "../../../text/record.ts";
import { limit } from "../core/limits.ts";
import { cleanText } from "../store/rows.ts";

/** One row of a query result. Most agents send all cells as text, but the type is not guaranteed. */
export type AgentRow = Readonly<Record<string, unknown>>;

/** The result of one detail query. Only `ok` results are ingested. */
export interface DetailResult {
  readonly ok: boolean;
  readonly rows: readonly AgentRow[];
  /** The rows as JSON text, until they are parsed. */
  readonly unread?: string;
  /** The number of rows that count. */
  readonly maxRows?: number;
}

/** By query key, without the wire prefix. Queries that the host skipped are absent. */
export type DetailResults = ReadonlyMap<string, DetailResult>;

/** Ignored content of a result; `query` is the query key. */
export interface InventoryWarning {
  readonly query: string;
  readonly reason: string;
}
export type Warn = (query: string, reason: string) => void;

export const DETAIL_PREFIX = "svc_detail_query_";

/** Indexed columns must stay below the size limit of a database index. */
export const storedText = limit({
  what: "text of the inventory, where nothing else is said",
  max: 255,
  unit: "characters",
  beyond: "The rest is cut off.",
});
const TEXT_MAX = storedText.max;

/** The rows of a result. Not an array (old agents send "") gives no rows; elements that are not objects are skipped. */
export function rowsOf(value: unknown): readonly AgentRow[] {
  if (!Array.isArray(value)) return [];
  return value.every(isRecord) ? value : value.filter(isRecord);
}

/** Whether a status means success: 0 as a number or as text, or absent. */
export const isOk = (status: unknown): boolean =>
  status === undefined || status === null || status === 0 || status === "" || Number(scalarText(status) || NaN) === 0;

/** The detail query results of a distributed write. */
export function detailResults(write: { readonly queries?: unknown; readonly statuses?: unknown }): DetailResults {
  const results = new Map<string, DetailResult>();
  const statuses = isRecord(write.statuses) ? write.statuses : {};
  if (isRecord(write.queries))
    for (const name of Object.keys(write.queries))
      if (name.startsWith(DETAIL_PREFIX))
        results.set(name.slice(DETAIL_PREFIX.length), {
          ok: isOk(Object.hasOwn(statuses, name) ? statuses[name] : undefined),
          rows: rowsOf(write.queries[name]),
        });
  // A failed query may have a status but no rows entry.
  for (const name of Object.keys(statuses)) {
    if (!name.startsWith(DETAIL_PREFIX)) continue;
    const key = name.slice(DETAIL_PREFIX.length);
    if (!results.has(key)) results.set(key, { ok: isOk(statuses[name]), rows: [] });
  }
  return results;
}

/** The rows of a successful query, or null (keep the stored value). */
export function okRows(results: DetailResults, key: string): readonly AgentRow[] | null {
  const result = results.get(key);
  return result?.ok ? result.rows : null;
}

/** The row of a query that must return exactly one. For any other count: a warning and null. */
export function singleRow(results: DetailResults, key: string, warn: Warn): AgentRow | null {
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

/** A cell to be stored as it is; values other than text become JSON. Null: too deeply nested to serialize. */
export function cellText(cell: unknown): string | null {
  if (typeof cell === "string") return cleanText(cell);
  if (cell === null || cell === undefined) return "";
  try {
    return JSON.stringify(cell);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Line breaks and other control characters, and characters that change the direction of the text around them. */
const unfitForLines = /[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu;

/** Names that users choose are refused instead. The name of a host must not rearrange the sentence that it stands in. */
const oneLine = (value: string): string =>
  value.replace(unfitForLines, (characters) => (/[\t\n\r\u2028\u2029]/.test(characters) ? " " : ""));

/**
 * Truncates to `max` UTF-16 code units, without splitting a surrogate pair. Only texts longer than names have several
 * lines.
 */
export function clip(value: string, max: number = TEXT_MAX): string {
  const last = value.charCodeAt(max - 1);
  const cut = cleanText(value.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max));
  return max === TEXT_MAX ? oneLine(cut) : cut;
}

/** The text of a column; "" if it is absent, null or not a scalar. */
export const text = (row: AgentRow, column: string, max: number = TEXT_MAX): string =>
  clip(scalarText(row[column]), max);

/** Whether the agent sent the column: columns vary by agent version. */
export const has = (row: AgentRow, column: string): boolean => Object.hasOwn(row, column);
