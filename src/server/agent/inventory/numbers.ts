// Agents send numbers as text, or as numbers when they are new; empty text is SQL NULL and counts as 0.

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/;

/** The number that a cell holds, or null when it holds none. Infinite is clamped to the largest double. */
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

/** The whole number that a cell holds, cut at the point and clamped to [min, max]; null when it holds none. */
export function toInt(cell: unknown, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): number | null {
  const number = toNumber(cell);
  return number === null ? null : clamp(Math.trunc(number), min, max);
}

/** A whole number from 0 up. */
export const toCount = (cell: unknown): number | null => toInt(cell, 0);

/** A duration in whole seconds that fits the 32 bits an agent keeps its intervals in. */
export const toSeconds = (cell: unknown): number | null => toInt(cell, 0, 2 ** 31 - 1);

// + 0: -0 would be written as "-0" in some places and "0" in others.
const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max) + 0;

// What ISO text with a four-digit year can hold.
const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Unix seconds (a fraction is kept to the millisecond) as ISO text; null when not positive or not a number. */
export function unixToIso(cell: unknown): string | null {
  const seconds = toNumber(cell);
  if (seconds === null || seconds <= 0) return null;
  return msToIso(seconds * 1000);
}

/** Milliseconds as ISO text, clamped to years of four digits. */
export function msToIso(ms: number): string {
  return new Date(clamp(Math.trunc(ms), FIRST_MS, LAST_MS)).toISOString();
}
