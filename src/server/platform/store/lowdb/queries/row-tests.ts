// Tests of one row by its own columns.
import type { Predicate, Scalar } from "../../query.ts";
import { cleanText, compareText, searchForm } from "../../rows.ts";
import { IdSet } from "../id-set.ts";
import type { MemoryTable } from "../memory-table.ts";
import { columnSpec, type MemoryRow } from "../values.ts";

export type Test = (row: MemoryRow) => boolean;
export type Range = Extract<Predicate, { op: "lt" | "lte" | "gt" | "gte" }>;
type Search = Extract<Predicate, { op: "search" }>;

// Stored text is always cleaned, so the text to compare it with must be cleaned in the same way.
export const cleanScalar = <T extends Scalar>(value: T): T =>
  (typeof value === "string" ? cleanText(value) : value) as T;

function holds(sorted: readonly number[], value: number): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const candidate = sorted[middle]!;
    if (candidate === value) return true;
    if (candidate < value) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

export function rangeTest({ op, column, value }: Range): Test {
  const bound = cleanScalar(value) as string;
  const type = typeof bound;
  // JavaScript orders by UTF-16 unit. With a text that has only units before the surrogates, that is the order by code
  // point.
  if (type === "string" && /[\ud800-\uffff]/.test(bound)) return textRangeTest(op, column, bound);
  switch (op) {
    case "lt":
      return (row) => typeof row[column] === type && (row[column] as string) < bound;
    case "lte":
      return (row) => typeof row[column] === type && (row[column] as string) <= bound;
    case "gt":
      return (row) => typeof row[column] === type && (row[column] as string) > bound;
    case "gte":
      return (row) => typeof row[column] === type && (row[column] as string) >= bound;
  }
}

function textRangeTest(op: Range["op"], column: string, bound: string): Test {
  const within: (difference: number) => boolean =
    op === "lt" ? (d) => d < 0 : op === "lte" ? (d) => d <= 0 : op === "gt" ? (d) => d > 0 : (d) => d >= 0;
  return (row) => {
    const value = row[column];
    return typeof value === "string" && within(compareText(value, bound));
  };
}

// Loops instead of `every` and `some`, because these tests run for each row.
export function everyTest(tests: readonly Test[]): Test {
  return (row) => {
    for (let i = 0; i < tests.length; i++) if (!tests[i]!(row)) return false;
    return true;
  };
}

export function someTest(tests: readonly Test[]): Test {
  return (row) => {
    for (let i = 0; i < tests.length; i++) if (tests[i]!(row)) return true;
    return false;
  };
}

/**
 * Up to this many values are looked up one by one in the members; more are matched against a set while scanning the
 * members.
 */
const FEW_IDS = 8;

export function holdsAny(column: string, values: readonly number[]): Test {
  if (values.length > FEW_IDS) {
    const ids = idsIn(values);
    return (row) => {
      const members = row[column] as readonly number[] | null;
      if (members !== null) for (let i = 0; i < members.length; i++) if (ids.has(members[i]!)) return true;
      return false;
    };
  }
  return (row) => {
    const members = row[column] as readonly number[] | null;
    if (members !== null) for (let i = 0; i < values.length; i++) if (holds(members, values[i]!)) return true;
    return false;
  };
}

/** The table of bytes of an `IdSet` must not become large because of few ids. */
const MAX_BOUND = 4_194_304;

function idsIn(values: readonly number[]): { has(id: number): boolean } {
  const bound = values.reduce((most, value) => Math.max(most, value), 0) + 1;
  if (bound > MAX_BOUND) return new Set(values);
  const ids = new IdSet(bound);
  for (const value of values) ids.add(value);
  return ids;
}

export const asciiLower = (text: string): string =>
  /[^\0-\x7f]/.test(text) ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text.toLowerCase();

/** The last text in lower case: the conditions of one query are tested one after the other on the same text. */
export class LowerCase {
  #text = "";
  #form = "";

  of(text: string): string {
    if (text !== this.#text) {
      this.#text = text;
      this.#form = text.toLowerCase();
    }
    return this.#form;
  }
}

export function searchTest(memoryTable: MemoryTable, { columns, text, at }: Search, lowerCase: LowerCase): Test {
  for (const column of columns)
    if (!columnSpec(memoryTable.table, column).searchable)
      throw new Error(`${memoryTable.table.name}.${column}: not declared for search`);
  const needle = searchForm(text);
  const matches = (form: string): boolean => (at === "start" ? form.startsWith(needle) : form.includes(needle));
  // Stored text is already cleaned, so lower-casing it is enough to get its search form.
  return (row) =>
    columns.some((column) => {
      const value = row[column] as string | null;
      return value !== null && matches(lowerCase.of(value));
    });
}
