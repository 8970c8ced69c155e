// Extracts query results from the result lines of a host (docs/protocols/agent.md, Logs).

import { isRecord } from "../../../text/record.ts";
import { isWideRow, parseExactly } from "../../platform/agent-protocol/json-scan.ts";
import type { ResultLine } from "../../platform/agent-protocol/lines.ts";
import { cellText } from "../../platform/agent-protocol/rows.ts";
import { limit } from "../../platform/core/limits.ts";
import { cleanText } from "../../platform/store/rows.ts";
import type { Plan, PlannedQuery } from "./plan.ts";

export interface Answer {
  readonly query: PlannedQuery;
  readonly rows: readonly Record<string, string>[];
}

/** A host's result with more rows is not stored. */
export const reportRows = limit({
  what: "rows of one host in the report of a query",
  max: 1000,
  unit: "rows",
  beyond: "The result of the host is not stored.",
});
const ROWS_MAX = reportRows.max;
/** Maximum size of one result (characters). Agents drop longer lines. */
export const reportText = limit({
  what: "result of one host for the report of a query",
  max: 4 * 1024 * 1024,
  unit: "characters",
  beyond: "The result of the host is not stored.",
});
export const reportColumns = limit({
  what: "columns of a row in the report of a query",
  max: 1000,
  unit: "entries",
  beyond: "The rest is left out.",
});

const none: readonly Answer[] = [];

interface Run {
  readonly unixTime: number;
  rows: unknown[];
  size: number;
}

/** For each query with a report, the newest result in the batch. */
export function answersIn(plan: Plan, teamId: number | null, lines: readonly ResultLine[]): readonly Answer[] {
  let newest: Map<PlannedQuery, Run> | null = null;
  for (const { raw, value } of lines) {
    if (value.action !== "snapshot" || typeof value.name !== "string") continue;
    const query = plan.named(value.name);
    if (query?.logging !== "snapshot" || query.discard_data) continue;
    // The host has left the team, or the name was made up.
    if (query.team_id !== null && query.team_id !== teamId) continue;
    const parsed = rowsOf(value);
    if (parsed === null) continue;
    const rows = parsed.some(isWideRow) ? rowsOf(exactly(raw))! : parsed;
    const unixTime = timeOf(value.unixTime);
    newest ??= new Map();
    const existing = newest.get(query);
    if (existing && existing.unixTime > unixTime) continue;
    // Runs logged one row per line have the same time on each line.
    if (existing?.unixTime === unixTime && !Array.isArray(value.snapshot)) {
      existing.size += raw.length;
      if (existing.rows.length <= ROWS_MAX) existing.rows.push(...rows);
    } else newest.set(query, { unixTime, rows, size: raw.length });
  }
  if (newest === null) return none;
  const answers: Answer[] = [];
  for (const [query, { rows, size }] of newest)
    if (rows.length <= ROWS_MAX && size <= reportText.max) answers.push({ query, rows: rows.flatMap(asText) });
  return answers;
}

function rowsOf(value: Readonly<Record<string, unknown>>): unknown[] | null {
  if (Array.isArray(value.snapshot)) return value.snapshot.length > ROWS_MAX ? value.snapshot : [...value.snapshot];
  // Some agents send an empty string for no rows.
  if (value.snapshot === "") return [];
  return isRecord(value.columns) ? [value.columns] : null;
}

const exactly = (raw: string) => parseExactly(raw, { start: 0, end: raw.length }) as ResultLine["value"];

/** A number, or numeric text from old agents; otherwise the minimum. */
function timeOf(value: unknown): number {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) ? seconds : 0;
}

/** All cells as text; no element if the row is not an object. */
function asText(row: unknown): Record<string, string>[] {
  if (!isRecord(row)) return [];
  const cells = Object.entries(row)
    .slice(0, reportColumns.max)
    .map(([column, cell]): [string, string] => [cleanText(column), cellText(cell) ?? ""]);
  return [Object.fromEntries(cells)];
}

/** Approximate memory use of the rows in bytes. */
export function sizeOf(rows: Answer["rows"]): number {
  let size = 64;
  for (const row of rows) for (const [column, cell] of Object.entries(row)) size += column.length + cell.length + 32;
  return size;
}
