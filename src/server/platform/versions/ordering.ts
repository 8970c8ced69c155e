// The order of the versions of software, by the rules of the package system that it comes from. Each set of rules has keys
// that begin with a letter of its own, so that one column has the keys of all.
import { apkKey } from "./apk.ts";
import { dpkgKey } from "./dpkg.ts";
import { genericKey } from "./generic.ts";
import { pacmanKey } from "./pacman.ts";
import { pep440Key } from "./pep440.ts";
import { rpmKey } from "./rpm.ts";
import { semverKey } from "./semver.ts";

interface Rules {
  readonly prefix: string;
  keyOf(version: string): string;
  /** The key of a version without a release is the beginning of the keys of all its releases, which are equal to it. */
  readonly hasReleases?: true;
}

const generic: Rules = { prefix: "g", keyOf: genericKey };
const npm: Rules = { prefix: "n", keyOf: semverKey };
const rulesBySource: Readonly<Record<string, Rules>> = {
  apk_packages: { prefix: "a", keyOf: apkKey },
  deb_packages: { prefix: "d", keyOf: dpkgKey },
  npm_packages: npm,
  pacman_packages: { prefix: "p", keyOf: pacmanKey, hasReleases: true },
  python_packages: { prefix: "y", keyOf: pep440Key },
  rpm_packages: { prefix: "r", keyOf: rpmKey, hasReleases: true },
  vscode_extensions: npm,
};
const allRules: readonly Rules[] = [...new Set([generic, ...Object.values(rulesBySource)])];

const rulesOf = (source: string): Rules => (Object.hasOwn(rulesBySource, source) ? rulesBySource[source]! : generic);

/** Well below the limit of a database index. Only versions that begin with the same thousands of characters are equal. */
const KEY_MAX = 2_000;
/** After all characters that continue a key with releases. */
const AFTER_RELEASES = "\x7f";

const keyBy = ({ prefix, keyOf }: Rules, version: string): string => `${prefix}${keyOf(version)}`.slice(0, KEY_MAX);

/** A text that sorts as the versions of the source; empty for an empty version, which is neither older nor newer. */
export function versionKey(source: string, version: string, release = ""): string {
  if (version.trim() === "") return "";
  return keyBy(rulesOf(source), release === "" ? version : `${version}-${release}`);
}

/** The keys that one set of rules has for a version. */
export interface VersionKeys {
  /** Below all keys of these rules. */
  readonly start: string;
  /** The first and the last key of versions that are equal to the version. */
  readonly from: string;
  readonly to: string;
  /** Above all keys of these rules. */
  readonly end: string;
}

const keysBy = (rules: Rules, version: string): VersionKeys => {
  const key = keyBy(rules, version);
  return {
    start: rules.prefix,
    from: key,
    to: rules.hasReleases ? `${key}${AFTER_RELEASES}` : key,
    end: String.fromCharCode(rules.prefix.charCodeAt(0) + 1),
  };
};

/** The keys of a version by the rules of every package system, for comparisons with software of any source. */
export const keysOfVersion = (version: string): VersionKeys[] => allRules.map((rules) => keysBy(rules, version));

/** The part of an operating system's version that is compared: "22.04.3 LTS" is 22.04.3. */
const comparedPart = (version: string): string => version.trim().split(/\s/, 1)[0]!;
export const systemVersionKey = (version: string): string => versionKey("", comparedPart(version));

/** The keys of the version of an operating system. */
export const keysOfSystem = (version: string): VersionKeys => keysBy(generic, comparedPart(version));
