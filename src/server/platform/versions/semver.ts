// Versions of npm packages, compared as in Semantic Versioning 2.0.0, section 11, with any number of parts. What follows
// the numbers in a version that is no semantic one comes after the release.
import { digitsKey, numbersKey } from "./digits.ts";
import { compareKeys } from "./keys.ts";

const VERSION = /^[v=\s]*(\d+(?:\.\d+)*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]*)?\s*$/;
const NUMBERS = /^[v=\s]*(\d+(?:\.\d+)*)/;
const isNumber = (text: string): boolean => /^\d+$/.test(text);

const END = "!";
/** Texts without numbers come before all versions. */
const NO_VERSION = "!";
const PRE_RELEASE = "#";
const RELEASE = "~";

/** Numbers come before texts, and fewer identifiers before more. A space ends a text. */
const identifierKey = (text: string): string => (isNumber(text) ? `(${digitsKey(text)}` : `)${text} `);

/** A text that sorts as Semantic Versioning. */
export function semverKey(version: string): string {
  const [, numbers, preRelease] = VERSION.exec(version) ?? [];
  if (numbers !== undefined) {
    if (preRelease === undefined) return numbersKey(numbers) + RELEASE;
    let key = numbersKey(numbers) + PRE_RELEASE;
    for (const identifier of preRelease.split(".")) key += identifierKey(identifier);
    return key + END;
  }
  const [start, first] = NUMBERS.exec(version) ?? [];
  if (start === undefined || first === undefined) return `${NO_VERSION}${version.toLowerCase()}`;
  return `${numbersKey(first)}${RELEASE}${version.slice(start.length)}`;
}

export const compareSemver = (a: string, b: string): number => compareKeys(semverKey(a), semverKey(b));
