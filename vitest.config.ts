import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    disableConsoleIntercept: true,
    // One more than there are cores: a good part of the time they wait, for Postgres and for servers that start.
    maxWorkers: availableParallelism() + 1,
    // Ends of what hangs, not measures: a loaded machine is ten times slower.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { interval: 20, timeout: 60_000 } },
    globalSetup: ["test/support/postgres.ts"],
  },
});
