// Versions of Python packages, compared as in PEP 440. What is no such version is compared like other versions.
import { compareDigits } from "./digits.ts";
import { compareGeneric } from "./generic.ts";

const VERSION =
  /^\s*v?(?:(?<epoch>\d+)!)?(?<release>\d+(?:\.\d+)*)(?:[-_.]?(?<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?<preNumber>\d*))?(?:-(?<postDash>\d+)|[-_.]?(?<post>post|rev|r)[-_.]?(?<postNumber>\d*))?(?:[-_.]?(?<dev>dev)[-_.]?(?<devNumber>\d*))?(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$/i;

interface Parsed {
  readonly epoch: string;
  readonly release: readonly string[];
  /** Before the release: [kind, number]; kinds in their order: dev alone, a, b, rc, none. */
  readonly pre: readonly [kind: number, number: string];
  /** Null: none, which comes before any. */
  readonly post: string | null;
  /** Null: none, which comes after any. */
  readonly dev: string | null;
  readonly local: readonly string[] | null;
}

const kinds: Readonly<Record<string, number>> = { a: 1, alpha: 1, b: 2, beta: 2, c: 3, rc: 3, pre: 3, preview: 3 };
const NO_PRE = 4;

function parse(version: string): Parsed | null {
  const found = VERSION.exec(version)?.groups;
  if (!found) return null;
  const { epoch = "0", release = "", pre, preNumber = "", postDash, post, postNumber = "", dev, devNumber } = found;
  const postOf = postDash ?? (post === undefined ? null : postNumber || "0");
  const isDevOnly = dev !== undefined && pre === undefined && postOf === null;
  const parts = release.split(".");
  while (parts.length > 1 && /^0+$/.test(parts.at(-1)!)) parts.pop();
  return {
    epoch,
    release: parts,
    pre: pre === undefined ? [isDevOnly ? 0 : NO_PRE, "0"] : [kinds[pre.toLowerCase()]!, preNumber || "0"],
    post: postOf,
    dev: dev === undefined ? null : devNumber || "0",
    local: found.local === undefined ? null : found.local.toLowerCase().split(/[-_.]/),
  };
}

function compareLists(a: readonly string[], b: readonly string[], compare: (x: string, y: string) => number): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = compare(a[i]!, b[i]!);
    if (difference !== 0) return difference;
  }
  return Math.sign(a.length - b.length);
}

const isNumber = (text: string): boolean => /^\d+$/.test(text);

/** Numbers come after texts. */
function compareLocal(a: string, b: string): number {
  if (isNumber(a) && isNumber(b)) return compareDigits(a, b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares values of which one may be missing; `missing` is the order of a missing one. */
function compareOptional<T>(a: T | null, b: T | null, missing: number, compare: (x: T, y: T) => number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? missing : -missing;
  return compare(a, b);
}

export function comparePep440(a: string, b: string): number {
  const left = parse(a);
  const right = parse(b);
  if (left === null || right === null) return compareGeneric(a, b);
  return (
    compareDigits(left.epoch, right.epoch) ||
    compareLists(left.release, right.release, compareDigits) ||
    Math.sign(left.pre[0] - right.pre[0]) ||
    compareDigits(left.pre[1], right.pre[1]) ||
    compareOptional(left.post, right.post, -1, compareDigits) ||
    compareOptional(left.dev, right.dev, 1, compareDigits) ||
    compareOptional(left.local, right.local, -1, (x, y) => compareLists(x, y, compareLocal))
  );
}
