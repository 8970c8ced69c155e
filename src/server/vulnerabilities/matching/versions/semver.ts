// Versions of npm packages, compared as in Semantic Versioning 2.0.0, section 11.
import { compareDigits } from "./digits.ts";
import { compareGeneric } from "./generic.ts";

const VERSION = /^[v=\s]*(\d+(?:\.\d+)*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]*)?\s*$/;
const isNumber = (text: string): boolean => /^\d+$/.test(text);

export function compareSemver(a: string, b: string): number {
  const left = VERSION.exec(a);
  const right = VERSION.exec(b);
  if (left === null || right === null) return compareGeneric(a, b);
  return compareCores(left[1]!, right[1]!) || comparePreReleases(left[2], right[2]);
}

function compareCores(a: string, b: string): number {
  const left = a.split(".");
  const right = b.split(".");
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = compareDigits(left[i] ?? "", right[i] ?? "");
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A version without one comes after all that have one. */
function comparePreReleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  const left = a.split(".");
  const right = b.split(".");
  for (let i = 0; i < left.length && i < right.length; i++) {
    const difference = compareIdentifiers(left[i]!, right[i]!);
    if (difference !== 0) return difference;
  }
  return Math.sign(left.length - right.length);
}

/** Numbers come before texts. */
function compareIdentifiers(a: string, b: string): number {
  if (isNumber(a) && isNumber(b)) return compareDigits(a, b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
