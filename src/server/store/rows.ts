// What both engines do to a row before they keep it, so that they cannot differ.
import type { ColumnSpec, Table } from "./table.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** JavaScript reads the 30th of February and 24:00 as times of the next day; the store takes times only as they are written. */
export const isTime = (value: string): boolean => {
  if (!ISO.test(value)) return false;
  const at = Date.parse(value);
  return !Number.isNaN(at) && new Date(at).toISOString() === value;
};

export class BadRow extends Error {}

/** Well-formed text without NUL: what Postgres can hold and UTF-8 can carry. */
export const cleanText = (value: string): string => {
  const formed = value.isWellFormed() ? value : value.toWellFormed();
  return formed.includes("\0") ? formed.replaceAll("\0", "\uFFFD") : formed;
};

/** The form in which `search` compares text. */
export const searchForm = (value: string): string => cleanText(value).toLowerCase();

function clean(table: string, column: string, spec: ColumnSpec, value: unknown): unknown {
  const bad = (): never => {
    throw new BadRow(`${table}.${column}: ${JSON.stringify(value)?.slice(0, 100)} is not a ${spec.kind}`);
  };
  if (value === null) return spec.nullable ? null : bad();
  switch (spec.kind) {
    case "id":
    case "ref":
    case "int":
      return Number.isSafeInteger(value) ? value : bad();
    case "real":
      // -0 and 0 are one number to the store.
      return Number.isFinite(value) ? (value as number) + 0 : bad();
    case "bool":
      return typeof value === "boolean" ? value : bad();
    case "text":
      return typeof value === "string" ? cleanText(value) : bad();
    case "time":
      return typeof value === "string" && isTime(value) ? value : bad();
    case "ids": {
      if (!Array.isArray(value) || !value.every(Number.isSafeInteger)) return bad();
      return [...new Set(value as number[])].sort((a, b) => a - b);
    }
    case "json":
    case "packed":
      return value === undefined ? bad() : value;
  }
}

/** A whole row from what an insert gives: defaults filled in, values checked and cleaned, keys in declared order. */
export function wholeRow(table: Table, given: Record<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [name, { spec }] of Object.entries(table.columns)) {
    const value = given[name];
    if (value !== undefined) row[name] = clean(table.name, name, spec, value);
    else if (spec.hasFallback) row[name] = spec.fallback;
    else throw new BadRow(`${table.name}.${name}: missing`);
  }
  for (const name of Object.keys(given))
    if (!(name in table.columns) && name !== "revision") throw new BadRow(`${table.name}.${name}: no such column`);
  return row;
}

/** The columns of a change, checked and cleaned. Keys that are undefined are left out. */
export function partRow(table: Table, given: Record<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const column = table.columns[name];
    if (!column) throw new BadRow(`${table.name}.${name}: no such column`);
    row[name] = clean(table.name, name, column.spec, value);
  }
  return row;
}

/** Orders text by code point, as UTF-8 bytes do (UTF-16 units would put U+1F600 before U+FF00). */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xHigh = x >= 0xd800 && x <= 0xdfff;
    const yHigh = y >= 0xd800 && y <= 0xdfff;
    if (xHigh !== yHigh) return xHigh ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}
