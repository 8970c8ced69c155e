import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { amount, engines, type OpenedStore } from "../../support/engines.ts";
import { compare, steps } from "./differential.ts";
import { type TestTables, testTables } from "./tables.ts";

const RUNS = Number(process.env.FUZZ_RUNS ?? amount(40, 200));
const opened: OpenedStore<TestTables>[] = [];
beforeAll(async () => {
  for (const engine of engines) opened.push(await engine.open(testTables));
});
afterAll(() => Promise.all(opened.map((store) => store.close())));

it("returns the same results in both engines", { timeout: 20_000 + RUNS * 1_000 }, async () => {
  const [one, other] = opened.map(({ store }) => store);
  let compared = 0;
  const property = fc.asyncProperty(steps, async (sequence) => {
    await compare([one!, other!], sequence);
    compared += sequence.length;
  });
  await fc.assert(property, { numRuns: RUNS, endOnFailure: false });
  expect(compared).toBeGreaterThan(RUNS);
});
