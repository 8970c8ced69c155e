// What is kept of a host's answer: text only, and no more than the limits allow.
import { cellText, clip, type Row } from "../agent/inventory/rows.ts";
import type { LiveAnswer } from "../agent/results.ts";
import { cleanText } from "../store/rows.ts";
import { CELL_MAX, ERROR_MAX, HOST_BYTES_MAX, HOST_ROWS_MAX } from "./limits.ts";

export interface Kept {
  readonly rows: readonly Record<string, string>[];
  readonly bytes: number;
  readonly error: string | null;
  readonly stats: Record<string, number> | null;
}

const MiB = 1024 * 1024;
/** Punctuation of one cell in JSON. */
const CELL_OVERHEAD = 6;
const measured = ["wall_time_ms", "user_time", "system_time", "memory"] as const;

export function keep({ rows, error, stats }: LiveAnswer): Kept {
  const told = statsOf(stats);
  if (error !== null) return { rows: [], bytes: 0, error: clip(error, ERROR_MAX), stats: told };
  if (rows.length > HOST_ROWS_MAX)
    return tooLarge(`${rows.length} rows: more than ${HOST_ROWS_MAX} are not kept`, told);
  const kept: Record<string, string>[] = [];
  let bytes = 0;
  for (const row of rows) {
    const cells: [string, string][] = [];
    for (const column of Object.keys(row)) {
      const text = cellText(row[column]);
      if (text === null) return tooLarge("a cell that is nested too deeply, which is not kept", told);
      const cell = cleanText(text);
      if (cell.length > CELL_MAX || Buffer.byteLength(cell) > CELL_MAX)
        return tooLarge(`a cell of more than ${CELL_MAX / MiB} MiB, which is not kept`, told);
      bytes += Buffer.byteLength(column) + Buffer.byteLength(cell) + CELL_OVERHEAD;
      cells.push([cleanText(column), cell]);
    }
    if (bytes > HOST_BYTES_MAX)
      return tooLarge(`more than ${HOST_BYTES_MAX / MiB} MiB of rows, which are not kept`, told);
    // Sets `__proto__` as the column it is.
    kept.push(Object.fromEntries(cells));
  }
  return { rows: kept, bytes, error: null, stats: told };
}

const tooLarge = (what: string, stats: Kept["stats"]): Kept => ({
  rows: [],
  bytes: 0,
  error: `the host answered with ${what}`,
  stats,
});

/** Of what the agent measured, what are numbers. */
function statsOf(stats: unknown): Kept["stats"] {
  if (typeof stats !== "object" || stats === null) return null;
  const told = measured.flatMap((name): [string, number][] => {
    const value = (stats as Row)[name];
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof number === "number" && Number.isFinite(number) ? [[name, number]] : [];
  });
  return told.length === 0 ? null : Object.fromEntries(told);
}
