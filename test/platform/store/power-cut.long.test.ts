import { describe, expect, it } from "vitest";
import { type Mutant, powerCutRun } from "./power-cut-run.ts";

describe("the journal after power cuts", () => {
  it("keeps all acknowledged data", async () => {
    let cuts = 0;
    let acknowledged = 0;
    for (let seed = 1; seed <= 25; seed++) {
      const result = await powerCutRun(seed, 8);
      expect(result.wrong, `seed ${seed}`).toBeNull();
      cuts += result.cuts;
      acknowledged += result.acknowledged;
    }
    expect(cuts).toBe(200);
    expect(acknowledged).toBeGreaterThan(1_000);
  });

  const mutants: [string, Mutant][] = [
    ["never syncs the journal", { ignoreSync: true }],
    ["acknowledges before the sync", { lateSync: true }],
    ["never syncs the directory", { ignoreSyncDir: true }],
  ];
  it.each(mutants)("the test detects a store that %s", async (_, mutant) => {
    let caught = 0;
    for (let seed = 1; seed <= 20 && caught < 3; seed++)
      if ((await powerCutRun(seed, 8, mutant)).wrong !== null) caught++;
    expect(caught).toBe(3);
  });
});
