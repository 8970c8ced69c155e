// vitest's setup for every test file.
import fc from "fast-check";
import { afterAll, afterEach, expect } from "vitest";
import { ends } from "./ends.ts";

const { FUZZ_SEED } = process.env;
if (FUZZ_SEED !== undefined) fc.configureGlobal({ seed: Number(FUZZ_SEED) });

/** `toEqual` compares files byte by byte as if they were objects, which takes seconds for a few MB. Undefined: not the case here. */
function sameBytes(one: unknown, other: unknown): boolean | undefined {
  return Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : undefined;
}

declare global {
  /** One process runs many files, and testers are never removed. */
  var hasByteTester: boolean | undefined;
}
if (!globalThis.hasByteTester) expect.addEqualityTesters([sameBytes]);
globalThis.hasByteTester = true;

afterEach(async () => {
  for (const end of ends.test) await end();
});

afterAll(async () => {
  for (const end of ends.file) await end();
});
