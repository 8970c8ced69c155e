// Parses the values in selector expressions.
import { ownOf } from "../../../../text/record.ts";
import { days, hours, minutes, seconds } from "../../../platform/core/clock.ts";
import { SelectorError, type Word } from "./parse.ts";

/** What a number measures. It decides which units are accepted. */
export type Unit = "plain" | "bytes" | "gigabytes" | "seconds" | "nanoseconds";

const GIGA = 1e9;
/** Memory sizes use powers of two, disk sizes use powers of ten. */
const binary = { b: 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30, tb: 2 ** 40, pb: 2 ** 50 };
const exact = { kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40, pib: 2 ** 50 };
const decimal = { b: 1, kb: 1e3, mb: 1e6, gb: GIGA, tb: 1e12, pb: 1e15 };
const milliseconds = {
  ms: 1,
  s: seconds(1),
  m: minutes(1),
  h: hours(1),
  d: days(1),
  w: days(7),
};

const scaled = (units: Record<string, number>, by: number): Record<string, number> =>
  Object.fromEntries(Object.entries(units).map(([unit, size]) => [unit, size * by]));

const units: Record<Unit, { readonly sizes: Record<string, number>; readonly example: string }> = {
  plain: { sizes: {}, example: "a number" },
  bytes: { sizes: { ...binary, ...exact }, example: "a number of bytes, or a size such as 16GB" },
  gigabytes: {
    sizes: scaled({ ...decimal, ...exact }, 1 / GIGA),
    example: "a number of gigabytes, or a size such as 500MB",
  },
  seconds: { sizes: scaled(milliseconds, 1 / 1000), example: "a number of seconds, or a duration such as 10m" },
  nanoseconds: { sizes: scaled(milliseconds, 1e6), example: "a number of nanoseconds, or a duration such as 7d" },
};

const measure = /^(-?\d{1,16}(?:\.\d{1,9})?)([a-z]*)$/i;

function measured(word: Word, sizes: Record<string, number>): number | null {
  const [, number, unit = ""] = (word.quoted ? null : measure.exec(word.text)) ?? [];
  if (number === undefined) return null;
  const size = unit === "" ? 1 : ownOf(sizes, unit.toLowerCase());
  return size === undefined ? null : Number(number) * size;
}

export function numberOf(word: Word, unit: Unit): number {
  const { sizes, example } = units[unit];
  const value = measured(word, sizes);
  if (value === null || Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new SelectorError(word.at, `"${word.text}" is not ${example}`);
  return value;
}

/** A duration means that long ago. A date or time stands for itself. */
export function instantOf(word: Word, now: number): { readonly age: boolean; readonly at: number } {
  const age = /[a-z]$/i.test(word.text) ? measured(word, milliseconds) : null;
  if (age !== null && age >= 0 && age <= days(36_500)) return { age: true, at: now - age };
  const dated = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/i.test(word.text);
  const zoned = word.text.length <= 10 || /(Z|[+-]\d{2}:\d{2})$/i.test(word.text) ? word.text : `${word.text}Z`;
  const at = dated ? Date.parse(zoned) : Number.NaN;
  if (Number.isNaN(at) || at < Date.UTC(1, 0, 1)) {
    const expected = "a duration such as 7d, or a time such as 2026-01-31 or 2026-01-31T08:00:00Z";
    throw new SelectorError(word.at, `"${word.text}" is not ${expected}`);
  }
  return { age: false, at };
}

export const isNone = ({ quoted, text }: Word): boolean => !quoted && /^(none|null|never)$/i.test(text);

export function flagOf(word: Word): boolean {
  const text = word.text.toLowerCase();
  if (text !== "true" && text !== "false") throw new SelectorError(word.at, `"${word.text}" is neither true nor false`);
  return text === "true";
}
