// Converts values between Postgres's text format and row values.
import type { CustomTypesConfig } from "pg";
import { unpackBytes } from "../packing.ts";
import type { SqlType } from "./schema.ts";

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

/** Converts `2026-01-01 00:00:00.12+00` (DateStyle ISO, TimeZone UTC) to ISO 8601 with milliseconds. */
function isoTime(text: string): string {
  if (text.length === USUAL_LENGTH && isUsualTime(text, 0)) return usualTime(text, 0);
  const fraction = text.charCodeAt(19) === 46 ? text.slice(20, text.indexOf("+", 20)).padEnd(3, "0") : "000";
  // The year 0000 of ISO 8601 is 1 BC in Postgres.
  const date = text.endsWith(" BC") ? `0000${text.slice(4, 10)}` : text.slice(0, 10);
  return `${date}T${text.slice(11, 19)}.${fraction}Z`;
}

const SPACE = 32;
const PLUS = 43;

/** The length of `2026-01-01 00:00:00.123+00`. */
export const USUAL_LENGTH = 26;

/** Whether a time that starts here and has the usual length has all three digits of its milliseconds. */
export const isUsualTime = (text: string, at: number): boolean =>
  text.charCodeAt(at + 10) === SPACE && text.charCodeAt(at + 23) === PLUS;

/** Converts the usual time that starts here. Parts that are joined take V8 three times as long, and more memory. */
export const usualTime = (text: string, at: number): string =>
  String.fromCharCode(
    text.charCodeAt(at),
    text.charCodeAt(at + 1),
    text.charCodeAt(at + 2),
    text.charCodeAt(at + 3),
    0x2d,
    text.charCodeAt(at + 5),
    text.charCodeAt(at + 6),
    0x2d,
    text.charCodeAt(at + 8),
    text.charCodeAt(at + 9),
    0x54,
    text.charCodeAt(at + 11),
    text.charCodeAt(at + 12),
    0x3a,
    text.charCodeAt(at + 14),
    text.charCodeAt(at + 15),
    0x3a,
    text.charCodeAt(at + 17),
    text.charCodeAt(at + 18),
    0x2e,
    text.charCodeAt(at + 20),
    text.charCodeAt(at + 21),
    text.charCodeAt(at + 22),
    0x5a,
  );

/** Converts an ISO time to the form that Postgres accepts. */
export const sqlTime = (iso: string): string => (iso.startsWith("0000") ? `0001${iso.slice(4)} BC` : iso);

/** `{1,2}` */
function numbers(text: string): number[] {
  const values: number[] = [];
  for (let at = 1; at < text.length - 1; ) {
    const comma = text.indexOf(",", at);
    const end = comma < 0 ? text.length - 1 : comma;
    values.push(Number(text.slice(at, end)));
    at = end + 1;
  }
  return values;
}

const parsers: Partial<Record<SqlType, (text: string) => unknown>> = {
  boolean: (text) => text === "t",
  // `\x` followed by hexadecimal digits. Only packed columns have this type.
  bytea: (text) => unpackBytes(Buffer.from(text.slice(2), "hex")),
  bigint: Number,
  "double precision": Number,
  json: (text) => JSON.parse(text),
  "timestamp(3) with time zone": isoTime,
  "bigint[]": numbers,
};

/** Returns undefined if values of the type are used as Postgres writes them. */
export const parserOf = (type: SqlType): ((text: string) => unknown) | undefined => parsers[type];

const byOid: Record<number, ((text: string) => unknown) | undefined> = {
  [OID.bool]: parsers.boolean,
  [OID.bytea]: parsers.bytea,
  [OID.int8]: parsers.bigint,
  [OID.int4]: parsers.bigint,
  [OID.float8]: parsers["double precision"],
  [OID.json]: parsers.json,
  [OID.timestamptz]: parsers["timestamp(3) with time zone"],
  [OID.int8Array]: parsers["bigint[]"],
};

/** Bytes in Postgres's hexadecimal format. */
export const bytesLiteral = (bytes: Buffer): string => `\\x${bytes.toString("hex")}`;

const asIs = (text: string): string => text;

export const types: CustomTypesConfig = {
  getTypeParser: ((oid: number) => byOid[oid] ?? asIs) as CustomTypesConfig["getTypeParser"],
};

/** Builds an array literal. Elements are given in text form, or null. */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  let text = "{";
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (i > 0) text += ",";
    if (value === null) text += "NULL";
    else if (typeof value === "string") text += arrayElement(value);
    else text += value;
  }
  return `${text}}`;
}

const arrayElement = (value: string): string =>
  /["\\]/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`;
