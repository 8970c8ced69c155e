import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    disableConsoleIntercept: true,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ["test/support/postgres.ts"],
  },
});
