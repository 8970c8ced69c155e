// Runs test files many times, to find tests that fail now and then:
//
//   npm run test:repeat -- [--times 20] [--load | --together] [--fresh] [FILE...]
//
// FILE is part of a path, as for vitest; without it every test file is run. Each file runs in a process of its own. With
// --load, other processes keep all cores busy meanwhile. With --together, all files run as in `npm test` and `npm run test:rest`,
// but twice as many at a time: each one is then under the load of others, and all of them once take no longer than both.
// The results are written to tmp/repeat-tests/ after each run: stopped with Ctrl-C, the same command
// line continues where it was. --fresh forgets the results of these files. The output of failed runs is kept there too.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { globSync } from "tinyglobby";

interface Result {
  passed: number;
  failed: number;
}
/** By the way of running (`alone`, `load`, `together`) and file. */
type Results = Record<string, Record<string, Result>>;

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "tmp", "repeat-tests");
const resultsFile = join(folder, "results.json");
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
/** Per core: a test then has a third of the time that it has alone. */
const NEIGHBOURS = 2;
const LAST_LINES = 60;
/** Test files at a time and core with --together; vitest.config.ts has 2. */
const WORKERS_PER_CORE = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: "string", default: "20" },
    load: { type: "boolean", default: false },
    together: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
  },
});
const times = Number(values.times);
if (!Number.isInteger(times) || times < 1) throw new Error("--times has to be a number of runs, for example 20");
if (values.load && values.together) throw new Error("--load and --together are two ways of running: give one of them");
const mode = values.load ? "load" : values.together ? "together" : "alone";
const files = globSync("test/**/*.test.ts", { cwd: root })
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort();
if (files.length === 0) throw new Error(`no test file matches ${positionals.join(" ")}`);

function readResults(): Results {
  try {
    return JSON.parse(readFileSync(resultsFile, "utf8")) as Results;
  } catch {
    return {};
  }
}

const all = readResults();
all[mode] ??= {};
const results = all[mode];
if (values.fresh) for (const file of files) delete results[file];

const children = new Set<ChildProcess>();
const endAll = () => {
  for (const child of children) child.kill();
};
process.once("exit", endAll);
let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    isStopping = true;
    endAll();
  });

function start(args: readonly string[], onOutput: (text: string) => void): Promise<number | null> {
  const child = spawn(process.execPath, [...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  children.add(child);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", onOutput);
  return new Promise((resolve) => {
    child.once("close", (code) => {
      children.delete(child);
      resolve(code);
    });
  });
}

interface Run {
  /** The part of a path that the report and the names of kept outputs contain. */
  readonly name: string;
  readonly number: number;
  readonly args: readonly string[];
  /** Adds up what failed. Called with whether vitest succeeded. */
  record(isPassed: boolean): void;
}

async function run({ name, number, args, record }: Run): Promise<void> {
  const started = performance.now();
  let output = "";
  const code = await start([vitest, "run", ...args], (text) => {
    output += text;
  });
  if (isStopping) return;
  record(code === 0);
  writeFileSync(resultsFile, `${JSON.stringify(all, null, 2)}\n`);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? "passed" : "FAILED"}  ${name}  ${mode} ${number} of ${times}, ${seconds} s`);
  if (code === 0) return;
  const kept = join(folder, `${name.replaceAll("/", "-")}.${mode}.${number}.log`);
  writeFileSync(kept, output);
  process.exitCode = 1;
  console.log(`${output.split("\n").slice(-LAST_LINES).join("\n")}\nThe whole output: ${kept}`);
}

function add(file: string, isPassed: boolean): void {
  results[file] ??= { passed: 0, failed: 0 };
  results[file][isPassed ? "passed" : "failed"]++;
}

const runAlone = (file: string, number: number) =>
  run({ name: file, number, args: [file], record: (isPassed) => add(file, isPassed) });

/** What vitest's JSON reporter writes. */
interface Report {
  testResults: { name: string; status: string }[];
}

function runTogether(chosen: readonly string[], number: number): Promise<void> {
  const reportFile = join(folder, "report.json");
  const workers = `--maxWorkers=${WORKERS_PER_CORE * availableParallelism()}`;
  rmSync(reportFile, { force: true });
  return run({
    name: positionals.length === 0 ? "all" : positionals.join(" "),
    number,
    args: [...positionals, workers, "--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`],
    record() {
      const { testResults } = JSON.parse(readFileSync(reportFile, "utf8")) as Report;
      const states = new Map(testResults.map(({ name, status }) => [relative(root, name), status]));
      for (const file of chosen) add(file, states.get(file) === "passed");
    },
  });
}

const runsOf = (file: string): number => (results[file]?.passed ?? 0) + (results[file]?.failed ?? 0);

mkdirSync(folder, { recursive: true });
if (values.load)
  for (let i = 0; i < NEIGHBOURS * availableParallelism(); i++) void start(["-e", "for (;;);"], () => {});
// Every file once, then every file again: also after an early stop each has been run about as often.
for (let number = 1; number <= times && !isStopping; number++) {
  const missing = files.filter((file) => runsOf(file) < number);
  if (values.together) {
    if (missing.length > 0) await runTogether(files, number);
  } else
    for (const file of missing) {
      if (isStopping) break;
      await runAlone(file, number);
    }
}
endAll();

const failed = files.filter((file) => (results[file]?.failed ?? 0) > 0);
for (const file of failed) console.log(`${file}: ${results[file]!.failed} of ${runsOf(file)} runs failed (${mode})`);
const runs = files.reduce((sum, file) => sum + runsOf(file), 0);
console.log(`${runs} of ${files.length * times} runs (${mode}), ${failed.length} of ${files.length} files failed`);
if (failed.length > 0) process.exitCode = 1;
