// From a software version to its CVEs.

import type { RowOf } from "../../../platform/store/table.ts";
import type { software } from "../../software/tables.ts";
import type { Library } from "../reference/library.ts";
import {
  apkVulnerabilities,
  type CveFixes,
  debVulnerabilities,
  registryVulnerabilities,
  rpmVulnerabilities,
} from "./packages.ts";
import { productVulnerabilities } from "./products.ts";

export type SoftwareRow = Pick<
  RowOf<typeof software>,
  "name" | "version" | "source" | "bundle_identifier" | "extension_for" | "release" | "vendor" | "source_package"
>;

export interface MatchedSoftware {
  /** The name of the product in NVD with this version; empty: NVD has no such product. */
  readonly cpe: string;
  /** By CVE: the version that resolves it, or null if none is known. */
  readonly cves: CveFixes;
}

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
