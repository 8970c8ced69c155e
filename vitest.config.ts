import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { globSync } from "tinyglobby";
import { defineConfig } from "vitest/config";

/**
 * Which tests run. `quick` is `npm test`, `rest` is everything that it leaves out, and `all` is both and more
 * (test/README.md). Without it, files that are named run as a whole: `npx vitest run test/hosts/labels`.
 */
const part = process.env.SVC_TEST ?? "";
if (!["", "quick", "rest", "all"].includes(part)) throw new Error(`SVC_TEST is quick, rest or all, not ${part}`);

const every = "test/**/*.test.ts";

/** The built binary, browsers, and everything else that takes long: not in `npm test`. */
const long = [
  "test/e2e/**/*.test.ts",
  "test/browser/**/*.test.ts",
  "test/**/*.long.test.ts",
  // Every endpoint with every role or input, and bad input in numbers.
  "test/server/dry-run.test.ts",
  "test/server/walker-matrix.test.ts",
  "test/**/{fuzz,hostile,bound-identities}.test.ts",
  // Real clients and servers of protocols, real terminals, large uploads.
  "test/simulator/**/*.test.ts",
  "test/certificates/ca-*.test.ts",
  "test/agent/**/*.test.ts",
  "test/commands/{binary,completion,terminal}.test.ts",
  "test/**/{uploads,upload-sessions}.test.ts",
  // Several servers on one database.
  "test/**/{two-servers,managed-two-servers,one-host}.test.ts",
];

/** What would meet the traces of other files: measures of memory, modules replaced, a process's own settings; and the store itself. */
const alone = [
  "test/edge/agent/hostile.test.ts",
  "test/edge/agent/protocol.test.ts",
  "test/certificates/ca-request-certificate.long.test.ts",
  "test/accounts/users-passwords.test.ts",
  "test/platform/store/**/*.test.ts",
];

const longFiles = new Set(globSync(long));

/** Files with tests for each engine: what `npm test` runs on the embedded store, `rest` runs on Postgres. */
const onEngines = () =>
  globSync(every, { ignore: [...long, ...alone] }).filter((file) => /\bbothEngines\b/.test(readFileSync(file, "utf8")));

const eachFile = "test/support/each-file.ts";
/** Generated inputs: the same ones each time, so that nothing fails by chance; others in `npm run test:all`. */
const seed = process.env.FUZZ_SEED ?? (part === "all" ? undefined : "20260301");
const env = seed === undefined ? {} : { FUZZ_SEED: seed };
const common = {
  env,
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

/** Projects begin in the order of their names: the last to run are short, and no core waits for one file. */
const projects = {
  alone: { ...common, include: alone, exclude: long, setupFiles: [eachFile] },
  "alone-long": { ...common, include: globSync(alone).filter((file) => longFiles.has(file)), setupFiles: [eachFile] },
  long: { ...shared, include: long, exclude: alone },
  shared: { ...shared, include: [every], exclude: [...alone, ...long] },
};
type Project = keyof typeof projects;

const named = (names: readonly Project[]) => names.map((name) => ({ test: { ...projects[name], name } }));
const withEngine = (engine: "lowdb" | "postgres") => ({ ...env, SVC_TEST_ENGINE: engine });

const projectsOf = () => {
  if (part === "quick")
    return [...named(["alone"]), { test: { ...projects.shared, name: "shared", env: withEngine("lowdb") } }];
  if (part !== "rest") return named(["alone", "alone-long", "long", "shared"]);
  const postgres = {
    ...shared,
    name: "postgres",
    include: onEngines(),
    env: withEngine("postgres"),
    // Other tests of these files have run in `npm test`.
    testNamePattern: /\bpostgres\b/,
  };
  return [...named(["alone-long", "long"]), { test: postgres }];
};

export default defineConfig({
  test: {
    // Half of the time they wait: for Postgres, for the disk, and for servers that start.
    maxWorkers: 2 * availableParallelism(),
    globalSetup: ["test/support/memory-folder.ts", "test/support/postgres.ts"],
    // A third of the time until the first test is the translation of TypeScript, and few files change between two runs.
    experimental: { fsModuleCache: true },
    projects: projectsOf(),
  },
});
