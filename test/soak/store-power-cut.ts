// Simulated power cuts for the embedded store's journal: `--cycles` cuts (10,000), and defective variants that must be
// detected.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Mutant, powerCutRun } from "../platform/store/power-cut-run.ts";
import type { SoakArgs } from "./main.ts";

const CUTS_PER_RUN = 10;

const mutants: Record<string, Mutant> = {
  "no sync": { ignoreSync: true },
  "acknowledge first": { lateSync: true },
  "no directory sync": { ignoreSyncDir: true },
};

/** The number of runs per process: stores whose power was cut stay in its memory and slow down the following ones. */
const RUNS_PER_PROCESS = 25;

async function runSeeds(from: number, to: number): Promise<{ cuts: number; acknowledged: number }> {
  let cuts = 0;
  let acknowledged = 0;
  for (let seed = from; seed <= to; seed++) {
    const result = await powerCutRun(seed, CUTS_PER_RUN);
    if (result.wrong !== null) throw new Error(`seed ${seed}, cut ${result.cuts}: ${result.wrong}`);
    cuts += result.cuts;
    acknowledged += result.acknowledged;
  }
  return { cuts, acknowledged };
}

/** Cuts power in a separate process. */
function inChild(from: number, to: number): Promise<{ cuts: number; acknowledged: number }> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [String(from), String(to)], { execArgv: process.execArgv });
    let told: { cuts: number; acknowledged: number } | null = null;
    child.once("message", (message) => {
      told = message as { cuts: number; acknowledged: number };
    });
    child.once("exit", (code) =>
      told === null ? reject(new Error(`seeds ${from} to ${to} ended with ${code}`)) : resolve(told),
    );
  });
}

if (process.send) {
  const [from, to] = process.argv.slice(2).map(Number) as [number, number];
  process.send(await runSeeds(from, to), () => process.exit(0));
}

export async function run(args: SoakArgs): Promise<string> {
  const runs = Math.ceil(Number(args.cycles ?? 10_000) / CUTS_PER_RUN);
  let cuts = 0;
  let acknowledged = 0;
  for (let from = 1; from <= runs; from += RUNS_PER_PROCESS) {
    const part = await inChild(from, Math.min(runs, from + RUNS_PER_PROCESS - 1));
    cuts += part.cuts;
    acknowledged += part.acknowledged;
  }
  for (const [name, mutant] of Object.entries(mutants)) {
    let isCaught = false;
    for (let seed = 1; seed <= 50 && !isCaught; seed++)
      isCaught = (await powerCutRun(seed, CUTS_PER_RUN, mutant)).wrong !== null;
    if (!isCaught) throw new Error(`the mutant "${name}" was not caught`);
  }
  return `${cuts} power cuts, ${acknowledged} acknowledged changes, 0 lost; ${Object.keys(mutants).length} mutants caught`;
}
