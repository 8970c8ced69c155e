// Versions in selectors are compared by the rules of the package system that the software comes from.
import { and, contains, gt, gte, lt, lte, or, type Predicate } from "../../../platform/store/query.ts";
import { keysOfSystem, keysOfVersion, type VersionKeys } from "../../../platform/versions/ordering.ts";
import type { Comparison } from "./kinds.ts";
import { SelectorError, type Word } from "./parse.ts";

const KEY = "version_key";

/** Keys of other rules begin with other letters, and unknown versions have none: neither is in any range. */
function within(operator: Comparison, { start, from, to, end }: VersionKeys): Predicate {
  switch (operator) {
    case "<":
      return and(gte(KEY, start), lt(KEY, from));
    case "<=":
      return and(gte(KEY, start), lte(KEY, to));
    case ">":
      return and(gt(KEY, to), lt(KEY, end));
    case ">=":
      return and(gte(KEY, from), lt(KEY, end));
  }
}

const hasNumber = (text: string): boolean => /\d/.test(text);

function versionOf({ text, at }: Word): string {
  if (!hasNumber(text)) throw new SelectorError(at, `"${text}" is not a version such as 3.0.20`);
  return text.trim();
}

/** Each version is compared by the rules of its own source. */
export const softwareVersion = (operator: Comparison, word: Word): Predicate =>
  or(...keysOfVersion(versionOf(word)).map((keys) => within(operator, keys)));

export const systemVersion = (operator: Comparison, word: Word): Predicate =>
  within(operator, keysOfSystem(versionOf(word)));

/** A version with the name of the system before it: "macOS 14.5", "Ubuntu 22.04.3 LTS". Without one, of any system. */
export function namedSystemVersion(operator: Comparison, word: Word): Predicate {
  const words = versionOf(word).split(/\s+/);
  const last = words.findLastIndex(hasNumber);
  const isNewer = within(operator, keysOfSystem(words[last]!));
  return last === 0 ? isNewer : and(contains("name", words.slice(0, last).join(" ")), isNewer);
}
