// The comparison itself: from versions to their vulnerabilities, with nothing but the reference files. After an import it
// runs in a thread of its own (compare.thread.ts), and for the versions that a host has reported in the server's.

import type { VulnerabilityMetadata } from "../../software/vulnerabilities/service.ts";
import type { Library } from "../reference/library.ts";
import type { CveFixes, MatchedSoftware, SoftwareRow } from "./matched-software.ts";
import { matchSoftware } from "./software.ts";
import { matchSystem, type System } from "./systems.ts";

/** A software version, and the distributions on which it is installed. */
export type ComparedRow = SoftwareRow & { readonly id: number; readonly releases: readonly string[] };

export interface ComparisonResults {
  /** By the version's id. */
  readonly results: ReadonlyMap<number, MatchedSoftware>;
  /** Versions whose comparison has failed, with the reason. */
  readonly failed: readonly { readonly id: number; readonly reason: string }[];
}

export interface Comparer {
  compare(rows: readonly ComparedRow[]): Promise<ComparisonResults>;
  compareSystem(system: System): Promise<CveFixes>;
  /** What is known about the CVEs; unknown ones are left out. */
  describe(cves: readonly string[]): Promise<VulnerabilityMetadata[]>;
}

/** `turn` is called between small steps. */
export const comparerOf = (library: Library, turn: () => Promise<unknown>): Comparer => ({
  async compare(rows) {
    const results = new Map<number, MatchedSoftware>();
    const failed: { id: number; reason: string }[] = [];
    for (const { id, releases, ...row } of rows) {
      try {
        results.set(id, await matchSoftware(library, row, releases));
      } catch (error) {
        failed.push({ id, reason: String(error) });
      }
      await turn();
    }
    return { results, failed };
  },
  compareSystem: ({ name, version, platform }) => matchSystem(library, { name, version, platform }),
  async describe(cves) {
    const descriptions: VulnerabilityMetadata[] = [];
    for (const cve of cves) {
      const record = await library.cve(cve);
      await turn();
      if (record === null) continue;
      descriptions.push({
        cve,
        cvss_score: record.score ?? null,
        epss_probability: record.epss ?? null,
        cisa_known_exploit: record.kev ?? false,
        cve_published: record.published || null,
        cve_description: record.text ?? null,
      });
    }
    return descriptions;
  },
});
