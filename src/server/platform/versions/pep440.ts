// Versions of Python packages, compared as in PEP 440. In a text that is no such version, the longest beginning that is one
// counts, and the rest comes after it.
import { digitsKey, numbersKey } from "./digits.ts";
import { compareKeys } from "./keys.ts";

const BEGINNING =
  /^\s*v?(?:(?<epoch>\d+)!)?(?<release>\d+(?:\.\d+)*)(?:[-_.]?(?<pre>alpha|beta|preview|pre|rc|a|b|c)(?![a-z])[-_.]?(?<preNumber>\d*))?(?:-(?<postDash>\d+)|[-_.]?(?<post>post|rev|r)(?![a-z])[-_.]?(?<postNumber>\d*))?(?:[-_.]?(?<dev>dev)(?![a-z])[-_.]?(?<devNumber>\d*))?(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*/i;

/** In their order: dev alone, alpha, beta, candidate, release. */
const kinds: Readonly<Record<string, number>> = { a: 1, alpha: 1, b: 2, beta: 2, c: 3, rc: 3, pre: 3, preview: 3 };
const DEV_ONLY = 0;
const RELEASE = 4;

const ABSENT_FIRST = "!";
const PRESENT = "#";
const ABSENT_LAST = "~";
const END = "!";
/** Texts without numbers come before all versions. */
const NO_VERSION = "!";

/** Numbers come after texts, and fewer parts before more. A space ends a text. */
const localKey = (part: string): string => (/^\d+$/.test(part) ? `)${digitsKey(part)}` : `(${part} `);

/** A text that sorts as PEP 440. */
export function pep440Key(version: string): string {
  const match = BEGINNING.exec(version);
  if (!match?.groups) return `${NO_VERSION}${version.toLowerCase()}`;
  const { epoch = "", release = "", pre, preNumber, postDash, post, postNumber, dev, devNumber, local } = match.groups;
  const after = postDash ?? (post === undefined ? undefined : (postNumber ?? ""));
  const kind =
    pre !== undefined ? kinds[pre.toLowerCase()]! : dev !== undefined && after === undefined ? DEV_ONLY : RELEASE;
  const parts = local?.toLowerCase().split(/[-_.]/);
  const rest = version.slice(match[0].length);
  let key = digitsKey(epoch) + numbersKey(release) + kind + digitsKey(preNumber ?? "");
  key += after === undefined ? ABSENT_FIRST : PRESENT + digitsKey(after);
  key += dev === undefined ? ABSENT_LAST : PRESENT + digitsKey(devNumber ?? "");
  key += parts === undefined ? ABSENT_FIRST : `${PRESENT}${parts.map(localKey).join("")}${END}`;
  return rest === "" ? key : `${key}${ABSENT_LAST}${rest.toLowerCase()}`;
}

export const comparePep440 = (a: string, b: string): number => compareKeys(pep440Key(a), pep440Key(b));
