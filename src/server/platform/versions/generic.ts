// Versions that follow no particular rules: apps, programs and products of NVD. Parts of digits are compared by value,
// words such as "beta" come before the release, and letters after it (1.0.2 < 1.0.2k). Zeros at the end, and before a word,
// do not count: otherwise 1.0-beta < 1 < 1a < 1.0-beta.
import { compareDigits, digitsKey } from "./digits.ts";

/** A word in front of the number says nothing, except that this is not a release yet: "RELEASE.2024-01-31", "jq-1.7". */
const LEADING_WORD =
  /^\s*(?!(?:alpha|beta|rc|pre|dev|snapshot|nightly|milestone|preview|candidate)\b)[a-z]+[\s._-]+(?=v?\d)/;

const before: Readonly<Record<string, number>> = {
  dev: -6,
  snapshot: -6,
  nightly: -6,
  alpha: -5,
  a: -5,
  beta: -4,
  b: -4,
  milestone: -3,
  m: -3,
  preview: -2,
  pre: -2,
  rc: -1,
  candidate: -1,
};
/** Words for the same. */
const synonyms: Readonly<Record<string, string>> = { patch: "p", patchlevel: "p", pl: "p", u: "update", upd: "update" };
/** A single letter after a number is a patch level, except with a number of its own: 1.0b2. */
const LETTER_WITHOUT_NUMBER = 1;

interface Part {
  /** Words before the release are negative, other words positive; 0: a number. */
  readonly order: number;
  readonly text: string;
}

function partsOf(version: string): Part[] {
  const plain = version
    .toLowerCase()
    // Builds, such as "5.17.5 (29101)" and "1.2.3+4".
    .replace(/\s*\(.*$/, "")
    .replace(/\+.*$/, "")
    .replace(LEADING_WORD, "")
    .replace(/^\s*(?:version|ver|v|r)?[\s.]*(?=\d)/, "");
  const matches = plain.match(/\d+|[a-z]+/g) ?? [];
  const parts = matches.map((text, at): Part => {
    if (text >= "0" && text < ":") return { order: 0, text };
    const next = matches[at + 1];
    const isAlone = text.length === 1 && (next === undefined || !(next >= "0" && next < ":"));
    return {
      order: isAlone ? LETTER_WITHOUT_NUMBER : (before[text] ?? LETTER_WITHOUT_NUMBER),
      text: synonyms[text] ?? text,
    };
  });
  return withoutZeros(parts);
}

const isZero = ({ order, text }: Part): boolean => order === 0 && /^0+$/.test(text);

/** Leaves out zeros at the end and before a word. */
function withoutZeros(parts: readonly Part[]): Part[] {
  const kept: Part[] = [];
  for (const part of parts) {
    if (part.order !== 0) dropZeros(kept);
    kept.push(part);
  }
  dropZeros(kept);
  return kept;
}

function dropZeros(parts: Part[]): void {
  while (parts.length > 0 && isZero(parts.at(-1)!)) parts.pop();
}

export function compareGeneric(a: string, b: string): number {
  if (a === b) return 0;
  const left = partsOf(a);
  const right = partsOf(b);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = compareOne(left[i], right[i]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareOne(a: Part | undefined, b: Part | undefined): number {
  if (a === undefined || b === undefined) {
    const present = (a ?? b)!;
    const sign = a === undefined ? -1 : 1;
    // Zeros at the end were left out, so a number that follows is not zero, or another one is.
    return sign * (present.order === 0 ? 1 : Math.sign(present.order));
  }
  if (a.order === 0 && b.order === 0) return compareDigits(a.text, b.text);
  // A number continues the release: 1.0.1 comes after 1.0rc1 and after 1.0a.
  if (a.order === 0 || b.order === 0) return a.order === 0 ? 1 : -1;
  if (a.order !== b.order || a.order < 0) return Math.sign(a.order - b.order);
  return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
}

const END = "(";

/** Words before a release, by their order, come before the end; other words and numbers after it. */
function partKey({ order, text }: Part): string {
  if (order === 0) return `*${digitsKey(text)}`;
  return order < 0 ? String.fromCharCode(END.charCodeAt(0) + order) : `)${text} `;
}

/** A text that sorts as `compareGeneric`. */
export const genericKey = (version: string): string => `${partsOf(version).map(partKey).join("")}${END}`;
