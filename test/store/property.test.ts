import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { engines, type OpenedStore } from "../support/engines.ts";
import { compare, steps } from "./differential.ts";
import { type TestTables, testTables } from "./tables.ts";

const RUNS = Number(process.env.FUZZ_RUNS ?? 60);
const opened: OpenedStore<TestTables>[] = [];
beforeAll(async () => {
  for (const engine of engines) opened.push(await engine.open(testTables));
});
afterAll(() => Promise.all(opened.map((store) => store.close())));

it("returns the same results in both engines", { timeout: 20_000 + RUNS * 1_000 }, async () => {
  const [one, other] = opened.map(({ store }) => store);
  const property = fc.asyncProperty(steps, (sequence) => compare([one!, other!], sequence));
  const seed = process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) };
  await fc.assert(property, { numRuns: RUNS, endOnFailure: false, ...seed });
  expect(RUNS).toBeGreaterThan(0);
});
