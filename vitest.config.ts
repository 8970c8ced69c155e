import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    disableConsoleIntercept: true,
    // Left to itself it keeps one of two cores free.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ["test/support/postgres.ts"],
  },
});
