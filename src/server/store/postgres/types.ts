// How values travel: Postgres's text forms to row values and back.
import type { CustomTypesConfig } from "pg";
import { unpackBytes } from "../packing.ts";

const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int4: 23,
  float8: 701,
  json: 114,
  timestamptz: 1184,
  int8Array: 1016,
} as const;

/** `2026-01-01 00:00:00.12+00` (DateStyle ISO, TimeZone UTC) as ISO 8601 with milliseconds. */
export function isoTime(text: string): string {
  const fraction = text.charCodeAt(19) === 46 ? text.slice(20, text.indexOf("+", 20)).padEnd(3, "0") : "000";
  // ISO 8601's year 0000 is 1 BC to Postgres.
  const date = text.endsWith(" BC") ? `0000${text.slice(4, 10)}` : text.slice(0, 10);
  return `${date}T${text.slice(11, 19)}.${fraction}Z`;
}

/** The form in which Postgres takes an ISO time. */
export const sqlTime = (iso: string): string => (iso.startsWith("0000") ? `0001${iso.slice(4)} BC` : iso);

const numbers = (text: string): number[] => (text === "{}" ? [] : text.slice(1, -1).split(",").map(Number));

const parsers: Record<number, (text: string) => unknown> = {
  [OID.bool]: (text) => text === "t",
  // `\x` and hexadecimal digits; only packed columns are bytes.
  [OID.bytea]: (text) => unpackBytes(Buffer.from(text.slice(2), "hex")),
  [OID.int8]: Number,
  [OID.int4]: Number,
  [OID.float8]: Number,
  [OID.json]: (text) => JSON.parse(text),
  [OID.timestamptz]: isoTime,
  [OID.int8Array]: numbers,
};

/** Bytes in Postgres's hexadecimal form. */
export const bytesLiteral = (bytes: Buffer): string => `\\x${bytes.toString("hex")}`;

const asIs = (text: string): string => text;

export const types: CustomTypesConfig = {
  getTypeParser: ((oid: number) => parsers[oid] ?? asIs) as CustomTypesConfig["getTypeParser"],
};

/** An array literal. Elements are the text forms of their values, or null. */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  let text = "{";
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (i > 0) text += ",";
    if (value === null) text += "NULL";
    else if (typeof value === "string") text += quoted(value);
    else text += value;
  }
  return `${text}}`;
}

const quoted = (value: string): string => (/["\\]/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`);
