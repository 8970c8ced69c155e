// The matching of real software with real advisories: how many vulnerabilities it misses, and how many it makes up.
import { describe, expect, it } from "vitest";
import { comparePairs } from "../../support/known-pairs.ts";

const PAIRS = 900;
const PRECISION = 0.95;
const RECALL = 0.9;

describe("the known pairs", () => {
  it("are matched with few errors", async () => {
    const { pairs, precision, recall, missed, wrong, marked } = await comparePairs();
    expect(pairs).toBeGreaterThan(PAIRS);
    expect([...missed, ...wrong].sort()).toEqual([...marked].sort());
    expect(precision).toBeGreaterThanOrEqual(PRECISION);
    expect(recall).toBeGreaterThanOrEqual(RECALL);
  });
});
