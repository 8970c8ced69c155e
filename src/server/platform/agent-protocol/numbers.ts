// Parses numbers in agent results. Agents send text, newer ones JSON numbers; empty text stands for SQL NULL and is 0.

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/;

/** The number in a cell, or null if it is not numeric. Infinity is clamped to the largest double. */
export function toNumber(cell: unknown): number | null {
  if (typeof cell === "boolean") return cell ? 1 : 0;
  if (typeof cell === "string") {
    const trimmed = cell.length > 64 ? cell.slice(0, 64).trim() : cell.trim();
    if (trimmed === "") return 0;
    if (!DECIMAL.test(trimmed)) return null;
    return clamp(Number(trimmed), -Number.MAX_VALUE, Number.MAX_VALUE);
  }
  if (typeof cell !== "number" || Number.isNaN(cell)) return null;
  return clamp(cell, -Number.MAX_VALUE, Number.MAX_VALUE);
}

/** The number in a cell, truncated to an integer and clamped to [min, max]; null if it is not numeric. */
export function toInt(cell: unknown, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): number | null {
  const number = toNumber(cell);
  return number === null ? null : clamp(Math.trunc(number), min, max);
}

/** A non-negative integer. */
export const toCount = (cell: unknown): number | null => toInt(cell, 0);

/** A duration in whole seconds that fits into 32 signed bits, as agents store their intervals. */
export const toSeconds = (cell: unknown): number | null => toInt(cell, 0, 2 ** 31 - 1);

// Adding 0 turns -0 into 0: the two are not serialized alike everywhere.
const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max) + 0;

// The range of ISO text with a four-digit year.
const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Unix seconds, with fractions down to milliseconds, as ISO text; null if not positive or not a number. */
export function unixToIso(cell: unknown): string | null {
  const seconds = toNumber(cell);
  if (seconds === null || seconds <= 0) return null;
  return msToIso(seconds * 1000);
}

/** Epoch milliseconds as ISO text, clamped to four-digit years. */
export function msToIso(ms: number): string {
  return new Date(clamp(Math.trunc(ms), FIRST_MS, LAST_MS)).toISOString();
}
