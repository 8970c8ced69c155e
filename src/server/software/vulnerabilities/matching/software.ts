// From a software version to its CVEs.

import type { Library } from "../reference/library.ts";
import type { MatchedSoftware, SoftwareRow } from "./matched-software.ts";
import { apkVulnerabilities, debVulnerabilities, registryVulnerabilities, rpmVulnerabilities } from "./packages.ts";
import { productVulnerabilities } from "./products.ts";

const none: MatchedSoftware = { cpe: "", cves: new Map() };

/** `releases` are the distributions on which the version is installed, such as `Ubuntu:22.04`. */
export async function matchSoftware(
  library: Library,
  row: SoftwareRow,
  releases: readonly string[] = [],
): Promise<MatchedSoftware> {
  if (!/\d/.test(row.version)) return none;
  switch (row.source) {
    case "deb_packages":
      return { cpe: "", cves: await debVulnerabilities(library, row, releases) };
    case "apk_packages":
      return { cpe: "", cves: await apkVulnerabilities(library, row, releases) };
    case "rpm_packages":
      return { cpe: "", cves: await rpmVulnerabilities(library, row) };
    case "python_packages":
      return { cpe: "", cves: await registryVulnerabilities(library, "PyPI", row) };
    case "npm_packages":
      return { cpe: "", cves: await registryVulnerabilities(library, "npm", row) };
    default:
      return productVulnerabilities(library, row);
  }
}
