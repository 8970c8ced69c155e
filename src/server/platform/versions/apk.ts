// Versions of Alpine's packages: digits{.digits}[letter]{_suffix[number]}[~hash][-r number], compared as apk does it
// (apk-package(5)).
import { compareDigits, digitsKey } from "./digits.ts";

const PARTS = /^(\d+(?:\.\d+)*)([a-z]?)((?:_(?:alpha|beta|pre|rc|cvs|svn|git|hg|p)\d*)*)(?:~([0-9a-f]+))?(?:-r(\d+))?$/;
/** Before the version without a suffix, which is 0, and after it. */
const SUFFIXES: Readonly<Record<string, number>> = {
  alpha: -4,
  beta: -3,
  pre: -2,
  rc: -1,
  cvs: 1,
  svn: 2,
  git: 3,
  hg: 4,
  p: 5,
};

interface Version {
  readonly numbers: readonly string[];
  readonly letter: string;
  readonly suffixes: readonly { readonly order: number; readonly number: string }[];
  /** Hash of a commit. */
  readonly hash: string;
  readonly revision: string;
}

/** Null: it is not a version of a package. */
function parse(text: string): Version | null {
  const [all, numbers = "", letter = "", suffixes = "", hash = "", revision = "0"] = PARTS.exec(text.trim()) ?? [];
  if (all === undefined) return null;
  return {
    numbers: numbers.split("."),
    letter,
    suffixes: [...suffixes.matchAll(/_([a-z]+)(\d*)/g)].map(([, name, number]) => ({
      order: SUFFIXES[name!]!,
      number: number || "0",
    })),
    hash,
    revision,
  };
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Numbers behind the first one that begin with 0 are compared as fractions: 1.05 is before 1.1. */
function compareNumber(a: string, b: string, isFirst: boolean): number {
  if (isFirst || (!a.startsWith("0") && !b.startsWith("0"))) return compareDigits(a, b);
  return compareTexts(a, b);
}

function compareNumbers(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = compareNumber(a[i]!, b[i]!, i === 0);
    if (difference !== 0) return difference;
  }
  return Math.sign(a.length - b.length);
}

function compareSuffixes(a: Version["suffixes"], b: Version["suffixes"]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const order = (a[i]?.order ?? 0) - (b[i]?.order ?? 0);
    if (order !== 0) return Math.sign(order);
    const difference = compareDigits(a[i]?.number ?? "0", b[i]?.number ?? "0");
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Texts that are no versions are equal only to themselves, and before all versions. */
export function compareApk(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (left === null || right === null) {
    if (left !== right) return left === null ? -1 : 1;
    return compareTexts(a, b);
  }
  return (
    compareNumbers(left.numbers, right.numbers) ||
    compareTexts(left.letter, right.letter) ||
    compareSuffixes(left.suffixes, right.suffixes) ||
    compareTexts(left.hash, right.hash) ||
    compareDigits(left.revision, right.revision)
  );
}

const END = "-";
/** Before and after `SUFFIXES` of the same value: 0 is a version without a further suffix. */
const suffixSymbol = (order: number): string => String.fromCharCode("5".charCodeAt(0) + order);

/** Numbers behind the first one that begin with 0 are compared as texts, and come before all others. */
const numberKey = (number: string, isFirst: boolean): string =>
  !isFirst && number.startsWith("0") ? `0${number} ` : digitsKey(number);

/** A text that sorts as `compareApk`. */
export function apkKey(text: string): string {
  const version = parse(text);
  if (version === null) return `!${text}`;
  const numbers = version.numbers.map((number, i) => numberKey(number, i === 0)).join(".");
  const suffixes = version.suffixes.map(({ order, number }) => `${suffixSymbol(order)}${digitsKey(number)}`).join("");
  return `#${numbers}${END}${version.letter || "!"}${suffixes}${suffixSymbol(0)}${version.hash} ${digitsKey(version.revision)}`;
}
