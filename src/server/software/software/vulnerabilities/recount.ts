// Counts the vulnerabilities of all hosts: after versions have got other vulnerabilities, and to correct deviations.
import { removeVulnerabilityChanges } from "../../../hosts/count-changes/vulnerabilities.ts";
import { channels } from "../../../platform/core/channels.ts";
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import { parts, turns } from "../../../platform/core/concurrency/parts.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { ServerStore, ServerTx } from "../../../platform/core/tables.ts";
import { addToScope } from "./add-counts.ts";
import { type Counts, countHosts } from "./count-hosts.ts";
import { correctCritical } from "./critical.ts";
import { changeState, type State, stateOf, VULNERABILITY_COUNTS_LOCK } from "./state.ts";

/** For how long differences wait at most while a server counts all hosts. */
const RECOUNT_TIME = minutes(10);
/** Counts that are read at once. */
const READ_SIZE = 1_000;
/** Counts that are corrected in one transaction. */
const BATCH_SIZE = 100;

/** Whether all hosts have to be counted: nobody has done so since versions have other vulnerabilities. */
export const isDue = (state: State | null, now: string): boolean =>
  state === null || (state.recount_until === null ? state.is_due : state.recount_until <= now);

/** Returns whether it has finished. */
export async function recountVulnerabilities(
  services: Pick<Services, "store" | "clock" | "log" | "extensions">,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, clock, log } = services;
  const generation = await store.tx(
    async (tx) => {
      const state = await stateOf(tx);
      const set = {
        recount_until: isoAt(clock.now() + RECOUNT_TIME),
        generation: (state?.generation ?? 0) + 1,
        // A change of vulnerabilities while hosts are counted sets this again.
        is_due: false,
      };
      await changeState(tx, state, set);
      return set.generation;
    },
    { lock: VULNERABILITY_COUNTS_LOCK },
  );
  let isDone = false;
  try {
    const now = clock.iso();
    const counts = await countHosts(store, signal);
    if (counts === null) return false;
    await correctCritical(services, counts.otherwiseCritical, counts.critical, signal);
    /** Only while no other server has begun to count all hosts. */
    const write = (work: (tx: ServerTx, state: State) => Promise<unknown>): Promise<boolean> =>
      store.tx(
        async (tx) => {
          const state = await stateOf(tx);
          if (state?.generation !== generation) return false;
          await work(tx, state);
          return true;
        },
        { lock: VULNERABILITY_COUNTS_LOCK },
      );
    const corrected = await correct(store, counts, write, signal);
    if (corrected === null) return false;
    isDone = await write(async (tx, state) => {
      if (state.recounted_at !== null && corrected > 0)
        log.debug({ corrected }, "counts of vulnerabilities have changed");
      // Changes by transactions whose hosts have just been counted.
      await removeVulnerabilityChanges(tx, counts.pending);
      await changeState(tx, state, { counted_at: now, recounted_at: now, generation: generation + 1 });
    });
    return isDone;
  } finally {
    await store.tx(
      async (tx) => {
        const state = await stateOf(tx);
        if (state) await changeState(tx, state, { recount_until: null, ...(isDone ? {} : { is_due: true }) });
        await tx.notify(channels.vulnerabilityCounts, "");
      },
      { lock: VULNERABILITY_COUNTS_LOCK },
    );
  }
}

/**
 * Makes the stored counts equal to these, in many transactions: nobody else changes counts meanwhile. Returns how many
 * differed. Null: it was not finished.
 */
async function correct(
  store: ServerStore,
  { scopes, ids }: Counts,
  write: (work: (tx: ServerTx) => Promise<unknown>) => Promise<boolean>,
  signal: AbortSignal,
): Promise<number | null> {
  const turn = turns();
  const differences = new Map<number, Map<number, number>>();
  const add = (scope: number, id: number, count: number): void => {
    const sums = differences.get(scope) ?? new Map<number, number>();
    differences.set(scope, sums);
    sums.set(id, (sums.get(id) ?? 0) + count);
  };
  for (const [scope, counts] of scopes)
    for (const [place, id] of ids.entries()) {
      if (counts[place]! > 0) add(scope, id, counts[place]!);
      await turn();
    }
  for await (const rows of store.vulnerabilityCounts.pages({}, READ_SIZE, [
    "scope",
    "vulnerability_id",
    "hosts_count",
  ])) {
    for (const { scope, vulnerability_id, hosts_count } of rows) add(scope, vulnerability_id, -hosts_count);
    await turn();
  }
  let corrected = 0;
  for (const [scope, sums] of differences) {
    const others = [...sums].filter(([, difference]) => difference !== 0);
    corrected += others.length;
    for await (const batch of parts(others, BATCH_SIZE))
      if (signal.aborted || !(await write((tx) => addToScope(tx, scope, new Map(batch))))) return null;
  }
  return corrected;
}
