// What a host's result lines say of each query (agent protocol, section 5).
import { cellText } from "../agent/inventory/rows.ts";
import { isWideRow, parseExactly } from "../agent/json-scan.ts";
import type { ResultLine } from "../agent/log.ts";
import type { KnownQuery, Plan } from "./plan.ts";

export interface Answer {
  readonly query: KnownQuery;
  readonly rows: readonly Record<string, string>[];
}

/** A host's answer with more rows is not stored at all. */
export const ROWS_MAX = 1000;
/** Agents drop lines of more; text of one answer at most. */
const ANSWER_MAX = 4 * 1024 * 1024;
const COLUMNS_MAX = 1000;

const none: readonly Answer[] = [];

interface Run {
  readonly unixTime: number;
  rows: unknown[];
  size: number;
}

/** Of each query whose report takes it, the newest answer of the batch. */
export function answersIn(plan: Plan, teamId: number | null, lines: readonly ResultLine[]): readonly Answer[] {
  let newest: Map<KnownQuery, Run> | null = null;
  for (const { raw, value } of lines) {
    if (value.action !== "snapshot" || typeof value.name !== "string") continue;
    const query = plan.named(value.name);
    if (query?.logging !== "snapshot" || query.discard_data) continue;
    // The host has left the team, or makes up a name.
    if (query.team_id !== null && query.team_id !== teamId) continue;
    const told = rowsOf(value);
    if (told === null) continue;
    const rows = told.some(isWideRow) ? rowsOf(exactly(raw))! : told;
    const unixTime = timeOf(value.unixTime);
    newest ??= new Map();
    const held = newest.get(query);
    if (held && held.unixTime > unixTime) continue;
    // One line for each row: those of one run have one time.
    if (held?.unixTime === unixTime && !Array.isArray(value.snapshot)) {
      held.size += raw.length;
      if (held.rows.length <= ROWS_MAX) held.rows.push(...rows);
    } else newest.set(query, { unixTime, rows, size: raw.length });
  }
  if (newest === null) return none;
  const answers: Answer[] = [];
  for (const [query, { rows, size }] of newest)
    if (rows.length <= ROWS_MAX && size <= ANSWER_MAX) answers.push({ query, rows: rows.flatMap(asText) });
  return answers;
}

function rowsOf(value: Readonly<Record<string, unknown>>): unknown[] | null {
  if (Array.isArray(value.snapshot)) return value.snapshot.length > ROWS_MAX ? value.snapshot : [...value.snapshot];
  // Some agents send an empty text for no rows.
  if (value.snapshot === "") return [];
  return isObject(value.columns) ? [value.columns] : null;
}

const exactly = (raw: string) => parseExactly(raw, { start: 0, end: raw.length }) as ResultLine["value"];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A number, or one as text from old agents; else the oldest of times. */
function timeOf(value: unknown): number {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) ? seconds : 0;
}

/** Cells are text, whatever came; what is no row is none. */
function asText(row: unknown): Record<string, string>[] {
  if (!isObject(row)) return [];
  const cells = Object.entries(row)
    .slice(0, COLUMNS_MAX)
    .map(([column, cell]): [string, string] => [column, cellText(cell) ?? ""]);
  return [Object.fromEntries(cells)];
}

/** About how much memory the rows take. */
export function sizeOf(rows: Answer["rows"]): number {
  let size = 64;
  for (const row of rows) for (const [column, cell] of Object.entries(row)) size += column.length + cell.length + 32;
  return size;
}
