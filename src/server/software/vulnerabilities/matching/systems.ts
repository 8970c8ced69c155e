// Operating system versions: Windows by Microsoft's documents, macOS by its ranges in NVD. What Linux has are the
// vulnerabilities of its kernels, which are packages.

import { compareGeneric } from "../../../platform/versions/generic.ts";
import type { Library } from "../reference/library.ts";
import type { BuildRecord } from "../reference/records.ts";
import { cpeName, resolvedIn, type Target } from "./cpe.ts";
import type { CveFixes } from "./matched-software.ts";

export interface System {
  readonly name: string;
  readonly version: string;
  readonly platform: string;
}

const MAC_PRODUCTS = ["macos", "mac_os_x"];
const BUILD = /^(\d+\.\d+\.\d+)\.\d+$/;

export async function matchSystem(library: Library, system: System): Promise<CveFixes> {
  if (system.platform === "darwin") return macVulnerabilities(library, system);
  if (system.platform === "windows") return windowsVulnerabilities(library, system);
  return new Map();
}

async function macVulnerabilities(library: Library, { version }: System): Promise<CveFixes> {
  const fixes = new Map<string, string | null>();
  const plain = version.replace(/\s*\(.*$/, "").trim();
  if (!/^\d/.test(plain)) return fixes;
  const target: Target = { version: plain, edition: "", platform: "", software: new Set(), needsTarget: false };
  for (const product of MAC_PRODUCTS)
    for (const record of await library.products("o", "apple", product)) {
      // A record without any limit says nothing about a version.
      const ranges = record.ranges.filter((range) => range.slice(1, 6).some((limit) => limit !== null));
      const resolved = resolvedIn({ ...record, ranges }, target);
      if (resolved !== undefined && (fixes.get(record.cve) ?? null) === null) fixes.set(record.cve, resolved);
    }
  return fixes;
}

/** A build gets all fixes together, so the first one that fixes a CVE counts. */
async function windowsVulnerabilities(library: Library, { name, version }: System): Promise<CveFixes> {
  const build = BUILD.exec(version)?.[1];
  if (build === undefined) return new Map();
  const first = new Map<string, string>();
  for (const { cve, fixed } of (await library.builds(build, /\bserver\b/i.test(name))) as BuildRecord[]) {
    const other = first.get(cve);
    if (other === undefined || compareGeneric(fixed, other) < 0) first.set(cve, fixed);
  }
  return new Map([...first].filter(([, fixed]) => compareGeneric(version, fixed) < 0));
}

/** The names of the system in NVD; none for Linux, whose kernels are packages. */
export function systemCpes({ name, version, platform }: System): string[] {
  if (platform === "darwin") {
    const plain = version.replace(/\s*\(.*$/, "").trim();
    const product = Number.parseInt(plain, 10) >= 11 ? "macos" : "mac_os_x";
    return plain === "" ? [] : [cpeName({ part: "o", vendor: "apple", product, version: plain })];
  }
  const product = platform === "windows" ? windowsProduct(name, version) : null;
  return product === null ? [] : [cpeName({ part: "o", vendor: "microsoft", product, version })];
}

/** Releases of Windows by their build. */
const releases: Readonly<Record<string, string>> = {
  "10.0.10240": "1507",
  "10.0.14393": "1607",
  "10.0.17763": "1809",
  "10.0.19041": "2004",
  "10.0.19042": "20h2",
  "10.0.19043": "21h1",
  "10.0.19044": "21h2",
  "10.0.19045": "22h2",
  "10.0.22000": "21h2",
  "10.0.22621": "22h2",
  "10.0.22631": "23h2",
  "10.0.26100": "24h2",
  "10.0.26200": "25h2",
};

function windowsProduct(name: string, version: string): string | null {
  const server = /\bserver\s+(\d{4}(?:\s+r2)?)/i.exec(name)?.[1];
  if (server !== undefined) return `windows_server_${server.toLowerCase().replaceAll(/\s+/g, "_")}`;
  const major = /\bwindows\s+(\d+)/i.exec(name)?.[1];
  if (major === undefined) return null;
  const release = releases[BUILD.exec(version)?.[1] ?? version];
  return release === undefined ? `windows_${major}` : `windows_${major}_${release}`;
}
