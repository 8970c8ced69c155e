// Packages of distributions and registries: advisories of OSV, which know the names and versions of packages, so no
// CPE is needed. An advisory that is fixed by a backport has the distribution's own version.

import { compareApk } from "../../../platform/versions/apk.ts";
import { compareDpkg } from "../../../platform/versions/dpkg.ts";
import { comparePep440 } from "../../../platform/versions/pep440.ts";
import { compareRpm } from "../../../platform/versions/rpm.ts";
import { compareSemver } from "../../../platform/versions/semver.ts";
import type { Library } from "../reference/library.ts";
import type { PackageRecord } from "../reference/records.ts";
import type { CveFixes, SoftwareRow } from "./matched-software.ts";
import { debSources } from "./rules/deb-sources.ts";
import { debKernelSources, isKernelSide, kernelSeries } from "./rules/kernels.ts";
import { distributionOf, isOtherStream } from "./rules/rpm.ts";

type Compare = (a: string, b: string) => number;

interface State {
  readonly isAffected: boolean;
  /** The version with the fix, if the advisory has one for this line of versions. */
  readonly fixed: string | null;
}

function stateIn({ ranges, versions }: PackageRecord, version: string, compare: Compare): State {
  let fixed: string | null = null;
  for (const [introduced, fix, last] of ranges) {
    fixed ??= fix;
    if (introduced !== "0" && compare(version, introduced) < 0) continue;
    if (fix !== null && compare(version, fix) >= 0) continue;
    if (last !== null && compare(version, last) > 0) continue;
    return { isAffected: true, fixed: fix };
  }
  const isListed = versions?.some((listed) => listed === version || compare(listed, version) === 0) ?? false;
  return { isAffected: isListed, fixed };
}

/** Registries: an advisory has several lines of versions; any advisory that has the version counts. */
export async function registryVulnerabilities(
  library: Library,
  ecosystem: "PyPI" | "npm",
  { name, version }: SoftwareRow,
): Promise<CveFixes> {
  const fixes = new Map<string, string | null>();
  // On Debian and Ubuntu, packages of Python that are not packages of the system are listed with this prefix.
  const packageName =
    ecosystem === "npm"
      ? name
      : name
          .toLowerCase()
          .replace(/^python3-/, "")
          .replaceAll(/[-_.]+/g, "-");
  const compare = ecosystem === "npm" ? compareSemver : comparePep440;
  for (const record of await library.packages(ecosystem, packageName)) {
    const { isAffected, fixed } = stateIn(record, version, compare);
    if (!isAffected) continue;
    for (const cve of record.cves) if ((fixes.get(cve) ?? null) === null) fixes.set(cve, fixed);
  }
  return fixes;
}

/**
 * Distributions: several advisories may name a CVE, and the first fix counts; one without a fix counts only if no
 * other has one.
 */
function inDistribution(
  records: readonly PackageRecord[],
  version: string,
  compare: Compare,
): Map<string, string | null> {
  const fixed = new Map<string, string>();
  const isFixed = new Set<string>();
  const open = new Set<string>();
  for (const record of records) {
    const state = stateIn(record, version, compare);
    for (const cve of record.cves) {
      if (state.isAffected && state.fixed === null) open.add(cve);
      if (!state.isAffected) isFixed.add(cve);
      if (state.fixed === null) continue;
      const other = fixed.get(cve);
      if (other === undefined || compare(state.fixed, other) < 0) fixed.set(cve, state.fixed);
    }
  }
  const fixes = new Map<string, string | null>();
  for (const cve of [...open, ...fixed.keys()]) {
    if (isFixed.has(cve)) continue;
    const fix = fixed.get(cve);
    if (fix === undefined) fixes.set(cve, null);
    else if (compare(version, fix) < 0) fixes.set(cve, fix);
  }
  return fixes;
}

/** A version that is installed on several releases has the vulnerabilities of all of them. */
export async function debVulnerabilities(
  library: Library,
  row: SoftwareRow,
  releases: readonly string[],
): Promise<CveFixes> {
  const all = new Map<string, string | null>();
  for (const release of releases)
    for (const [cve, fixed] of inDistribution(await debRecords(library, release, row), row.version, compareDpkg))
      if ((all.get(cve) ?? null) === null) all.set(cve, fixed);
  return all;
}

async function debRecords(
  library: Library,
  release: string,
  { name, version, source_package }: SoftwareRow,
): Promise<readonly PackageRecord[]> {
  if (isKernelSide(name)) return [];
  const source = sourceName(source_package);
  if (/^linux-image-/.test(name)) return kernelRecords(library, release, { name, version, source });
  const binary = await library.packages(release, name);
  // Ubuntu's advisories list binary packages with their own versions, Debian's have source packages only.
  if (binary.length > 0 && !release.startsWith("Debian")) return binary;
  const names = source === "" ? debSources(name) : [source];
  for (const sourceName of names) {
    const records = sourceName === name ? binary : await library.packages(release, sourceName);
    if (records.length > 0) return records;
  }
  return [];
}

/** `linux-signed (5.15.0-91.101)` is linux. */
const sourceName = (source: string): string =>
  source
    .replace(/\s*\(.*$/, "")
    .trim()
    .replace(/^linux-signed-(?:amd64|arm64|i386)$/, "linux")
    .replace(/^linux-signed/, "linux");

async function kernelRecords(
  library: Library,
  release: string,
  { name, version, source }: { readonly name: string; readonly version: string; readonly source: string },
): Promise<readonly PackageRecord[]> {
  const series = kernelSeries(version);
  if (release.startsWith("Debian")) return library.packages(release, source === "" ? "linux" : source);
  const names = source === "" ? debKernelSources(name, series) : [source];
  for (const sourceName of names) {
    const records = await library.packages(release, sourceName);
    // Sources of several series have advisories for each; fixes of another series say nothing.
    const seriesRecords = records.filter(({ ranges }) =>
      ranges.every(([, fixed]) => fixed === null || kernelSeries(fixed) === series),
    );
    if (seriesRecords.some(({ ranges }) => ranges.some(([, fixed]) => fixed !== null))) return seriesRecords;
  }
  return [];
}

/** Alpine's advisories have source packages. */
export async function apkVulnerabilities(
  library: Library,
  { name, version, source_package }: SoftwareRow,
  releases: readonly string[],
): Promise<CveFixes> {
  const all = new Map<string, string | null>();
  for (const release of releases) {
    const records = await library.packages(release, source_package === "" ? name : source_package);
    for (const [cve, fixed] of inDistribution(records, version, compareApk))
      if ((all.get(cve) ?? null) === null) all.set(cve, fixed);
  }
  return all;
}

export async function rpmVulnerabilities(library: Library, row: SoftwareRow): Promise<CveFixes> {
  const { name, release, source_package } = row;
  const distribution = distributionOf(row);
  if (distribution === null || isKernelSide(name)) return new Map();
  const version = `${row.version}-${release}`;
  let records = await library.packages(distribution, name);
  // Rocky's advisories have source packages only: openssl-3.0.7-24.el9.src.rpm.
  const source = /^(.+)-[^-]+-[^-]+$/.exec(source_package)?.[1];
  if (records.length === 0 && source !== undefined && source !== name)
    records = await library.packages(distribution, source);
  const streamRecords = records.filter(
    ({ ranges }) => !ranges.some(([, fixed]) => fixed !== null && isOtherStream(name, version, fixed)),
  );
  return inDistribution(streamRecords, version, compareRpm);
}
