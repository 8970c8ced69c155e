import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const every = "test/**/*.test.ts";

/** What would meet the traces of other files: measures of memory, modules replaced, a process's own settings; and the store itself. */
const alone = [
  "test/edge/agent/hostile.test.ts",
  "test/edge/agent/protocol.test.ts",
  "test/certificates/ca-request-certificate.test.ts",
  "test/accounts/users-passwords.test.ts",
  "test/platform/store/**/*.test.ts",
];

/** What takes longest. Projects begin in the order of their names: the last to run are short, and no core waits for one file. */
const long = ["test/e2e/**/*.test.ts", "test/commands/{binary,completion,examples,examples-binary,interrupts}.test.ts"];

const eachFile = "test/support/each-file.ts";
/** Generated inputs: the same ones in every `npm test`, so that it does not fail by chance; others in `npm run test:all`. */
const seed = process.env.FUZZ_SEED ?? (process.env.SVC_TEST_ALL === "1" ? undefined : "20260301");
const common = {
  env: seed === undefined ? {} : { FUZZ_SEED: seed },
  disableConsoleIntercept: true,
  // Ends of what hangs, not measures: a loaded machine is ten times slower.
  testTimeout: 120_000,
  hookTimeout: 240_000,
  expect: { poll: { interval: 20, timeout: 60_000 } },
};

const shared = {
  ...common,
  // To load the server takes longer than most files' tests: processes keep it from one file to the next.
  isolate: false,
  // They make many short-lived objects.
  execArgv: ["--max-semi-space-size=64"],
  setupFiles: [
    eachFile,
    "test/support/remembered-hashes.ts",
    "test/support/kept-pools.ts",
    "test/support/kept-keys.ts",
  ],
};

export default defineConfig({
  test: {
    // Half of the time they wait: for Postgres, for the disk, and for servers that start.
    maxWorkers: 2 * availableParallelism(),
    globalSetup: ["test/support/memory-folder.ts", "test/support/postgres.ts"],
    projects: [
      { test: { ...common, name: "alone", include: alone, setupFiles: [eachFile] } },
      { test: { ...shared, name: "long", include: long } },
      { test: { ...shared, name: "shared", include: [every], exclude: [...alone, ...long] } },
    ],
  },
});
