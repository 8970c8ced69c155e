// The matching of real software with real advisories: how many vulnerabilities it misses, and how many it makes up.
import { describe, expect, it } from "vitest";
import { matchSoftware } from "../../../src/server/vulnerabilities/matching/software.ts";
import { matchSystem } from "../../../src/server/vulnerabilities/matching/systems.ts";
import { advisories, type KnownSoftware, knownSoftware } from "../../support/known-pairs.ts";

const PRECISION = 0.95;
const RECALL = 0.9;

describe("the known pairs", () => {
  it("are matched with few errors", async () => {
    const library = await advisories();
    const foundFor = async ({ row, system, releases }: KnownSoftware) =>
      system === null ? (await matchSoftware(library, row, releases)).found : await matchSystem(library, system);
    let pairs = 0;
    let right = 0;
    const missed: string[] = [];
    const wrong: string[] = [];
    for (const known of knownSoftware()) {
      const found = await foundFor(known);
      pairs += known.affected.size + known.unaffected.size;
      for (const cve of known.affected)
        if (found.has(cve)) right++;
        else missed.push(`${cve}: ${known.line}`);
      for (const cve of found.keys()) if (!known.affected.has(cve)) wrong.push(`${cve}: ${known.line}`);
    }
    const precision = right / (right + wrong.length);
    const recall = right / (right + missed.length);
    expect(pairs).toBeGreaterThan(300);
    expect({ precision: precision >= PRECISION, wrong }).toEqual({ precision: true, wrong: [] });
    expect({ recall: recall >= RECALL, missed }).toEqual({ recall: true, missed: [] });
  });
});
