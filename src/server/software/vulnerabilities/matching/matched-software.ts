import type { RowOf } from "../../../platform/store/table.ts";
import type { software } from "../../software/tables.ts";

/** By CVE: the version that resolves it, or null if none is known. */
export type CveFixes = ReadonlyMap<string, string | null>;

export interface MatchedSoftware {
  /** The name of the product in NVD with this version; empty: NVD has no such product. */
  readonly cpe: string;
  /** By CVE: the version that resolves it, or null if none is known. */
  readonly cves: CveFixes;
}

export type SoftwareRow = Pick<
  RowOf<typeof software>,
  "name" | "version" | "source" | "bundle_identifier" | "extension_for" | "release" | "vendor" | "source_package"
>;
