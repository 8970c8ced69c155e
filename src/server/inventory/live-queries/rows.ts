// Converts a host's live result to its stored form: text only, within the limits.

import type { LiveAnswer } from "../../platform/agent-protocol/names.ts";
import { type AgentRow, cellText, clip } from "../../platform/agent-protocol/rows.ts";
import { cleanText } from "../../platform/store/rows.ts";
import { CELL_MAX, ERROR_MAX, HOST_BYTES_MAX, HOST_ROWS_MAX } from "./limits.ts";

export interface StoredResult {
  readonly rows: readonly Record<string, string>[];
  readonly bytes: number;
  readonly error: string | null;
  readonly stats: Record<string, number> | null;
}

const MiB = 1024 * 1024;
/** JSON punctuation per cell, in bytes. */
const CELL_OVERHEAD = 6;
const measured = ["wall_time_ms", "user_time", "system_time", "memory"] as const;

export function storedResult({ rows, error, stats }: LiveAnswer): StoredResult {
  const numbers = statsOf(stats);
  if (error !== null) return { rows: [], bytes: 0, error: clip(error, ERROR_MAX), stats: numbers };
  if (rows.length > HOST_ROWS_MAX) return tooLarge(`${rows.length} rows exceed the limit of ${HOST_ROWS_MAX}`, numbers);
  const textRows: Record<string, string>[] = [];
  let bytes = 0;
  for (const row of rows) {
    const cells: [string, string][] = [];
    for (const column of Object.keys(row)) {
      const text = cellText(row[column]);
      if (text === null) return tooLarge("a cell is nested too deeply", numbers);
      const cell = cleanText(text);
      if (cell.length > CELL_MAX || Buffer.byteLength(cell) > CELL_MAX)
        return tooLarge(`a cell is larger than ${CELL_MAX / MiB} MiB`, numbers);
      bytes += Buffer.byteLength(column) + Buffer.byteLength(cell) + CELL_OVERHEAD;
      cells.push([cleanText(column), cell]);
    }
    if (bytes > HOST_BYTES_MAX) return tooLarge(`the rows are larger than ${HOST_BYTES_MAX / MiB} MiB`, numbers);
    // Object.fromEntries sets a column named `__proto__` as an ordinary property.
    textRows.push(Object.fromEntries(cells));
  }
  return { rows: textRows, bytes, error: null, stats: numbers };
}

const tooLarge = (what: string, stats: StoredResult["stats"]): StoredResult => ({
  rows: [],
  bytes: 0,
  error: `the result was not stored: ${what}`,
  stats,
});

/** The numeric statistics. */
function statsOf(stats: unknown): StoredResult["stats"] {
  if (typeof stats !== "object" || stats === null) return null;
  const numbers = measured.flatMap((name): [string, number][] => {
    const value = (stats as AgentRow)[name];
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof number === "number" && Number.isFinite(number) ? [[name, number]] : [];
  });
  return numbers.length === 0 ? null : Object.fromEntries(numbers);
}
