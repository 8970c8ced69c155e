// Simulated power cuts on the embedded store's journal: `--cycles` cuts (10,000), and mutants that must be caught.
import { type Mutant, powerCutRun } from "../store/power-cut-run.ts";
import type { SoakArgs } from "./main.ts";

const CUTS_PER_RUN = 10;

const mutants: Record<string, Mutant> = {
  "no sync": { ignoreSync: true },
  "acknowledge first": { lateSync: true },
  "no directory sync": { ignoreSyncDir: true },
};

export async function run(args: SoakArgs): Promise<string> {
  const runs = Math.ceil(Number(args.cycles ?? 10_000) / CUTS_PER_RUN);
  let cuts = 0;
  let acknowledged = 0;
  for (let seed = 1; seed <= runs; seed++) {
    const result = await powerCutRun(seed, CUTS_PER_RUN);
    if (result.wrong !== null) throw new Error(`seed ${seed}, cut ${result.cuts}: ${result.wrong}`);
    cuts += result.cuts;
    acknowledged += result.acknowledged;
  }
  for (const [name, mutant] of Object.entries(mutants)) {
    let isCaught = false;
    for (let seed = 1; seed <= 50 && !isCaught; seed++)
      isCaught = (await powerCutRun(seed, CUTS_PER_RUN, mutant)).wrong !== null;
    if (!isCaught) throw new Error(`the mutant "${name}" was not caught`);
  }
  return `${cuts} power cuts, ${acknowledged} acknowledged changes, 0 lost; ${Object.keys(mutants).length} mutants caught`;
}
