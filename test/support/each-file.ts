// vitest's setup for every test file.
import { afterAll, afterEach } from "vitest";
import { ends } from "./ends.ts";

afterEach(async () => {
  for (const end of ends.test) await end();
});

afterAll(async () => {
  for (const end of ends.file) await end();
});
