// Subject alternative names in the notation DNS=name, EMAIL=address. Parsed into pairs, so that a value can never add
// another pair.
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
  const kind = kinds.find((one) => one === key.toUpperCase());
  if (kind === undefined)
    throw new BadName(`must be pairs as KEY=value, separated by commas; keys are ${kinds.join(", ")}`);
  const plain = value.replace(/\\(.)/g, "$1").trim();
  if (plain === "") throw new BadName(`${kind} has no value`);
  return { kind, value: plain };
}

export const writeAlternativeNames = (names: readonly AlternativeName[]): string =>
  names.map(({ kind, value }) => `${kind}=${value.replace(CONTROL, "").replace(/[\\,]/g, "\\$&")}`).join(", ");
