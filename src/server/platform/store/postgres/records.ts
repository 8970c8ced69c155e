// Wide rows are read as one text per row, in the form in which Postgres writes records: `(1,"a b",,"")`. One value per
// column costs the driver about three times as much.
import type { ColumnSpec } from "../table.ts";
import { type SqlType, sqlType } from "./schema.ts";
import { list, type Sql, sql } from "./sql.ts";
import { isUsualTime, parserOf, USUAL_LENGTH, usualTime } from "./types.ts";

/** The name of the only column of a statement that reads records. */
export const RECORD = "record";

/** With fewer columns, a record is not faster. */
const WIDE_COLUMNS = 8;
/** Postgres doubles the quotes and backslashes in a record, so large values are read as they are. */
const LARGE: ReadonlySet<SqlType> = new Set<SqlType>(["json", "bytea"]);

export const fitsRecord = (columns: readonly ColumnSpec[]): boolean =>
  columns.length >= WIDE_COLUMNS && !columns.some((spec) => LARGE.has(sqlType(spec)));

export const recordOf = (columns: readonly Sql[]): Sql => sql`ROW(${list(columns)})::text AS ${sql.id(RECORD)}`;

/** The first value of a record of two or more, which must be an integer. */
export const firstOfRecord = (text: string): number => Number(text.slice(1, text.indexOf(",")));

const COMMA = 44;
const QUOTE = 34;

/**
 * Returns a function that parses a record to the values of its columns, in an array that the next call overwrites. A
 * null is nothing at all, an empty text is `""`; within quotes, quotes and backslashes are doubled.
 */
export function recordParser(columns: readonly ColumnSpec[]): (text: string) => readonly unknown[] {
  const types = columns.map(sqlType);
  const parsers = types.map(parserOf);
  const isNumber = types.map((type) => type === "bigint" || type === "double precision");
  const isTime = types.map((type) => type === "timestamp(3) with time zone");
  const last = columns.length - 1;
  const values: unknown[] = columns.map(() => null);
  return (text) => {
    let at = 1;
    for (let i = 0; i <= last; i++) {
      const code = text.charCodeAt(at);
      let value: string;
      if (code === QUOTE) {
        if (isTime[i] && text.charCodeAt(at + 1 + USUAL_LENGTH) === QUOTE && isUsualTime(text, at + 1)) {
          values[i] = usualTime(text, at + 1);
          at += USUAL_LENGTH + 3;
          continue;
        }
        let end = text.indexOf('"', at + 1);
        value = text.slice(at + 1, end);
        while (text.charCodeAt(end + 1) === QUOTE) {
          const next = text.indexOf('"', end + 2);
          value += text.slice(end + 1, next);
          end = next;
        }
        if (value.includes("\\")) value = value.replaceAll("\\\\", "\\");
        at = end + 2;
      } else {
        const end = code === COMMA ? at : i < last ? text.indexOf(",", at) : text.length - 1;
        if (end === at) {
          values[i] = null;
          at++;
          continue;
        }
        const from = at;
        at = end + 1;
        if (isNumber[i] && end - from <= MAX_SHORT_DIGITS) {
          values[i] = shortNumber(text, from, end);
          continue;
        }
        value = text.slice(from, end);
      }
      const parse = parsers[i];
      values[i] = parse ? parse(value) : value;
    }
    return values;
  };
}

/** Numbers of up to this many characters have fewer digits than a double can represent exactly. */
const MAX_SHORT_DIGITS = 15;
const POWERS = Array.from({ length: MAX_SHORT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** The number between these places. Most are plain decimals, which need no text of their own. */
function shortNumber(text: string, from: number, end: number): number {
  let digits = 0;
  let point = end;
  for (let at = from; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (digit === POINT && point === end) point = at + 1;
    else return Number(text.slice(from, end));
  }
  // Digits and power are exact, so their quotient is the double that is closest to the decimal.
  return point === end ? digits : digits / POWERS[end - point]!;
}

const ZERO = 48;
const POINT = 46 - ZERO;
