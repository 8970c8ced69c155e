// What the reference files contain. Feeds write these records, and matching reads them; the short names keep files of
// several hundred thousand records small.

/** Key of what is known about a CVE; a file may have several records with different members. */
export const cveKey = (cve: string): string => `v:${cve}`;
export interface CveRecord {
  /** CVSS 3 base score. */
  readonly score?: number;
  readonly published?: string;
  readonly text?: string;
  /** Probability of exploitation, 0 to 1. */
  readonly epss?: number;
  /** Listed as exploited. */
  readonly kev?: true;
}

/** Key of the CVEs of a product of NVD: `part` is `a` (application) or `o` (operating system). */
export const productKey = (part: string, vendor: string, product: string): string => `p:${part}:${vendor}:${product}`;

/** [target software, exact version, from, after, up to, before, edition]; null: not limited; `-`: no edition. */
export type CpeRange = readonly [
  target: string,
  exact: string | null,
  from: string | null,
  after: string | null,
  upTo: string | null,
  before: string | null,
  edition?: string,
];
export interface ProductRecord {
  readonly cve: string;
  readonly ranges: readonly CpeRange[];
  /** The operating systems on which the product is affected; missing: all. */
  readonly on?: readonly string[];
}

/** Key of the advisories of a package: `ecosystem` is the one of OSV, without minor parts. */
export const packageKey = (ecosystem: string, name: string): string => `o:${ecosystem}:${name}`;
export interface PackageRecord {
  readonly cves: readonly string[];
  /** [introduced, fixed, last affected]; "0": from the first version. */
  readonly ranges: readonly (readonly [introduced: string, fixed: string | null, last: string | null])[];
  /** Affected versions, where the advisory has no ranges. */
  readonly versions?: readonly string[];
}

/** Key of the CVEs of a Windows build, such as 10.0.22631. */
export const buildKey = (build: string, isServer: boolean): string => `w:${isServer ? "server" : "client"}:${build}`;
export interface BuildRecord {
  readonly cve: string;
  /** The first build without the vulnerability, such as 10.0.22631.3155. */
  readonly fixed: string;
}
