// Subject names in the notation /CN=name/O=organization. Parsed into fields, so that a value can never add another
// field.
import { directoryString, ia5, oid, sequence, setOf } from "./der.ts";

export interface NameField {
  readonly key: string;
  readonly value: string;
}

/** Attribute types by their keys (RFC 4519, RFC 2985). */
const keys: Readonly<Record<string, string>> = {
  CN: "2.5.4.3",
  SN: "2.5.4.4",
  SERIALNUMBER: "2.5.4.5",
  C: "2.5.4.6",
  L: "2.5.4.7",
  ST: "2.5.4.8",
  STREET: "2.5.4.9",
  O: "2.5.4.10",
  OU: "2.5.4.11",
  TITLE: "2.5.4.12",
  GN: "2.5.4.42",
  DC: "0.9.2342.19200300.100.1.25",
  UID: "0.9.2342.19200300.100.1.1",
  EMAILADDRESS: "1.2.840.113549.1.9.1",
  E: "1.2.840.113549.1.9.1",
};
export const nameKeys: readonly string[] = Object.keys(keys);
const ia5Keys: ReadonlySet<string> = new Set(["DC", "E", "EMAILADDRESS"]);

export class BadName extends Error {}

const FIELDS_MAX = 32;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression must match control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A backslash escapes the next character: `\/` and `\\`. Throws `BadName`. */
export function parseName(text: string): NameField[] {
  if (CONTROL.test(text)) throw new BadName("must not contain control characters");
  const parts = split(text.startsWith("/") ? text.slice(1) : text);
  if (parts.length > FIELDS_MAX) throw new BadName(`must have at most ${FIELDS_MAX} fields`);
  const fields = parts.map(fieldOf);
  if (fields.filter(({ key }) => key === "CN").length > 1) throw new BadName("must have one CN at most");
  return fields;
}

function split(text: string): string[] {
  const parts: string[] = [""];
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "\\") {
      if (i + 1 === text.length) throw new BadName("ends in a backslash");
      parts.push(parts.pop() + char + text[++i]!);
    } else if (char === "/") parts.push("");
    else parts.push(parts.pop() + char);
  }
  return parts;
}

function fieldOf(part: string): NameField {
  const [, key = "", value = ""] = /^\s*([A-Za-z]+)\s*=([\s\S]*)$/.exec(part) ?? [];
  if (key === "") throw new BadName("must be fields as KEY=value, separated by /, such as /CN=name/O=organization");
  if (keys[key.toUpperCase()] === undefined)
    throw new BadName(`${key} is not a field of a subject; known are ${nameKeys.join(", ")}`);
  const plain = plainText(value).trim();
  if (plain === "") throw new BadName(`${key} has no value`);
  if (key.toUpperCase() === "C" && !plain.includes("$") && !/^[A-Za-z]{2}$/.test(plain))
    throw new BadName("C is a country's code of two letters");
  return { key: key.toUpperCase(), value: plain };
}

const plainText = (text: string): string => text.replace(/\\([\s\S])/g, "$1");

/** Escapes a value for use in a subject name, so that it cannot start another field. */
export const escapeValue = (text: string): string =>
  text.replace(new RegExp(CONTROL, "g"), "").replace(/[\\/]/g, "\\$&");

/** The X.501 Name: each field is a relative distinguished name of its own. */
export const encodeName = (fields: readonly NameField[]): Buffer =>
  sequence(
    ...fields.map(({ key, value }) =>
      setOf(sequence(oid(keys[key]!), ia5Keys.has(key) && isAscii(value) ? ia5(value) : directoryString(value))),
    ),
  );

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;
