// vitest's setup for every test file.
import fc from "fast-check";
import { afterAll, afterEach } from "vitest";
import { ends } from "./ends.ts";

const { FUZZ_SEED } = process.env;
if (FUZZ_SEED !== undefined) fc.configureGlobal({ seed: Number(FUZZ_SEED) });

afterEach(async () => {
  for (const end of ends.test) await end();
});

afterAll(async () => {
  for (const end of ends.file) await end();
});
