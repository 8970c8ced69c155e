// Checks and normalisation that both engines apply to a row before they store it, so that they cannot differ.
import type { ColumnSpec, Table } from "./table.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Rejects times such as February 30 or 24:00, which JavaScript would silently read as a time on a later day. */
export const isTime = (value: string): boolean => {
  if (!ISO.test(value)) return false;
  const at = Date.parse(value);
  return !Number.isNaN(at) && new Date(at).toISOString() === value;
};

export class BadRow extends Error {}

/** Replaces lone surrogates and NUL with U+FFFD: Postgres cannot store them. */
export const cleanText = (value: string): string => {
  const formed = value.isWellFormed() ? value : value.toWellFormed();
  return formed.includes("\0") ? formed.replaceAll("\0", "\uFFFD") : formed;
};

/** Normalises text for comparison in `search`. */
export const searchForm = (value: string): string => cleanText(value).toLowerCase();

function isAscending(ids: readonly number[]): boolean {
  for (let i = 1; i < ids.length; i++) if (ids[i - 1]! >= ids[i]!) return false;
  return true;
}

/** The ids as the store keeps them: each once, in ascending order. */
export function distinctInOrder(ids: readonly number[]): number[] {
  if (isAscending(ids)) return ids.slice();
  // A typed array is sorted several times as fast.
  const sorted = Float64Array.from(ids).sort();
  const distinct: number[] = [];
  for (const id of sorted) if (id !== distinct.at(-1)) distinct.push(id);
  return distinct;
}

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
      // Adding 0 turns -0 into 0: the store treats them as the same number.
      return Number.isFinite(value) ? (value as number) + 0 : bad();
    case "bool":
      return typeof value === "boolean" ? value : bad();
    case "text":
      return typeof value === "string" ? cleanText(value) : bad();
    case "time":
      return typeof value === "string" && isTime(value) ? value : bad();
    case "ids": {
      if (!Array.isArray(value) || !value.every(Number.isSafeInteger)) return bad();
      return distinctInOrder(value as number[]);
    }
    case "json":
    case "packed":
      return value === undefined ? bad() : value;
  }
}

/**
 * Builds a complete row from the input of an insert: defaults filled in, values checked and cleaned, keys in declared
 * order.
 */
export function wholeRow(table: Table, input: Record<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [name, spec] of table.specs) {
    const value = input[name];
    if (value !== undefined) row[name] = clean(table.name, name, spec, value);
    else if (spec.hasFallback) row[name] = spec.fallback;
    else throw new BadRow(`${table.name}.${name}: missing`);
  }
  for (const name in input)
    if (!(name in table.columns) && name !== "revision") throw new BadRow(`${table.name}.${name}: no such column`);
  return row;
}

/** Checks and cleans the columns of an update. Undefined keys are left out. */
export function partRow(table: Table, change: Record<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) continue;
    const column = table.columns[name];
    if (!column) throw new BadRow(`${table.name}.${name}: no such column`);
    row[name] = clean(table.name, name, column.spec, value);
  }
  return row;
}

/** Orders text by code point, like UTF-8 bytes. (Comparing UTF-16 units would sort U+1F600 before U+FF00.) */
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
