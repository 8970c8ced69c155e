// Subject alternative names in the notation DNS=name, EMAIL=address. Parsed into pairs, so that a value can never add
// another pair.
import { isIPv4, isIPv6 } from "node:net";
import { element, oid, sequence, tagged } from "./der.ts";
import { BadName } from "./names.ts";

const kinds = ["DNS", "EMAIL", "UPN", "IP", "URI"] as const;

export interface AlternativeName {
  readonly kind: (typeof kinds)[number];
  readonly value: string;
}

const NAMES_MAX = 32;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression must match control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** A backslash escapes the next character: `\,` and `\\`. An empty text has no names. Throws `BadName`. */
export function parseAlternativeNames(text: string): AlternativeName[] {
  if (text.search(CONTROL) >= 0) throw new BadName("must not contain control characters");
  if (text.trim() === "") return [];
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(text)) throw new BadName("ends in a backslash");
  const parts = text.match(/(?:\\.|[^\\,])+|(?<=,|^)(?=,|$)/g) ?? [];
  if (parts.length > NAMES_MAX) throw new BadName(`must have at most ${NAMES_MAX} names`);
  return parts.map(nameOf);
}

function nameOf(part: string): AlternativeName {
  const [, key = "", value = ""] = /^\s*([A-Za-z]+)\s*=(.*)$/.exec(part) ?? [];
  const kind = kinds.find((candidate) => candidate === key.toUpperCase());
  if (kind === undefined)
    throw new BadName(`must be pairs as KEY=value, separated by commas; keys are ${kinds.join(", ")}`);
  const plain = value.replace(/\\(.)/g, "$1").trim();
  if (plain === "") throw new BadName(`${kind} has no value`);
  return { kind, value: plain };
}

export const writeAlternativeNames = (names: readonly AlternativeName[]): string =>
  names.map(({ kind, value }) => `${kind}=${value.replace(CONTROL, "").replace(/[\\,]/g, "\\$&")}`).join(", ");

/** GeneralNames in DER (RFC 5280, 4.2.1.6). Throws `BadName` for an IP address that is none. */
export const encodeAlternativeNames = (names: readonly AlternativeName[]): Buffer => sequence(...names.map(encodeOne));

/** The user's name in a directory, as Microsoft has it. */
export const USER_PRINCIPAL_NAME = "1.3.6.1.4.1.311.20.2.3";
const UTF8 = 0x0c;

function encodeOne({ kind, value }: AlternativeName): Buffer {
  const text = Buffer.from(value);
  switch (kind) {
    case "UPN":
      return tagged(0, oid(USER_PRINCIPAL_NAME), tagged(0, element(UTF8, text)));
    case "EMAIL":
      return element(0x81, text);
    case "DNS":
      return element(0x82, text);
    case "URI":
      return element(0x86, text);
    case "IP":
      return element(0x87, addressBytes(value));
  }
}

function addressBytes(text: string): Buffer {
  if (isIPv4(text)) return Buffer.from(text.split(".").map(Number));
  if (!isIPv6(text) || text.includes("%")) throw new BadName(`${text} is not an IP address`);
  // The URL parser writes an embedded IPv4 address in hexadecimal.
  const [head = "", tail = ""] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const [first, last] = [groups(head), groups(tail)];
  const all = [...first, ...Array<string>(8 - first.length - last.length).fill("0"), ...last];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
