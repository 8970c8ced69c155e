// Versions of Debian packages: [epoch:]upstream[-revision], compared as in Debian Policy, section 5.6.12.
import { compareDigits, digitsKey } from "./digits.ts";

/** `~` sorts before the end of a part, letters before all other characters. */
function orderOf(char: string | undefined): number {
  if (char === undefined || isDigit(char)) return 0;
  if (char === "~") return -1;
  const code = char.charCodeAt(0);
  return /[A-Za-z]/.test(char) ? code : code + 256;
}

const isDigit = (char: string | undefined): boolean => char !== undefined && char >= "0" && char <= "9";

/** Compares parts of texts and parts of digits in turn. */
function compareParts(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    while ((i < a.length && !isDigit(a[i])) || (j < b.length && !isDigit(b[j]))) {
      const difference = orderOf(a[i]) - orderOf(b[j]);
      if (difference !== 0) return Math.sign(difference);
      i++;
      j++;
    }
    const startA = i;
    const startB = j;
    while (isDigit(a[i])) i++;
    while (isDigit(b[j])) j++;
    const difference = compareDigits(a.slice(startA, i), b.slice(startB, j));
    if (difference !== 0) return difference;
  }
  return 0;
}

interface Parts {
  readonly epoch: string;
  readonly upstream: string;
  readonly revision: string;
}

function partsOf(version: string): Parts {
  const colon = version.indexOf(":");
  const rest = version.slice(colon + 1);
  const dash = rest.lastIndexOf("-");
  return {
    epoch: colon < 0 ? "" : version.slice(0, colon),
    upstream: dash < 0 ? rest : rest.slice(0, dash),
    revision: dash < 0 ? "" : rest.slice(dash + 1),
  };
}

export function compareDpkg(a: string, b: string): number {
  const left = partsOf(a.trim());
  const right = partsOf(b.trim());
  return (
    compareDigits(left.epoch, right.epoch) ||
    compareParts(left.upstream, right.upstream) ||
    compareParts(left.revision, right.revision)
  );
}

const END = "#";

/** Sorts as `orderOf`: `~`, the end, letters, all other characters. */
function symbolOf(char: string): string {
  if (char === "~") return "!";
  if (/[A-Za-z]/.test(char)) return char;
  const code = char.charCodeAt(0);
  return code < 0x7f ? `~${char}` : `~\x7f${code.toString(16).padStart(4, "0")}`;
}

/** Texts of other characters and numbers in turn. The first pair is always there, so an end follows a whole pair. */
function partsKey(part: string): string {
  let key = "";
  let at = 0;
  do {
    for (; at < part.length && !isDigit(part[at]); at++) key += symbolOf(part[at]!);
    const start = at;
    while (isDigit(part[at])) at++;
    key += `${END}${digitsKey(part.slice(start, at))}`;
  } while (at < part.length);
  return `${key}${END}`;
}

/** A text that sorts as `compareDpkg`. */
export function dpkgKey(version: string): string {
  const { epoch, upstream, revision } = partsOf(version.trim());
  return `${digitsKey(epoch)}${partsKey(upstream)}${partsKey(revision)}`;
}
