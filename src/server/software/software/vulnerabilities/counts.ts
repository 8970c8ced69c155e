// How many hosts each vulnerability affects: of all hosts, of each team, and of hosts without a team. Transactions that
// change hosts record differences (hosts/count-changes/), which one of the servers adds shortly afterwards. If versions
// have other vulnerabilities than before, all hosts are counted again (recount.ts).
import { ALL_HOSTS } from "../../../hosts/count-changes/tables.ts";
import { removeVulnerabilityChanges } from "../../../hosts/count-changes/vulnerabilities.ts";
import { channels } from "../../../platform/core/channels.ts";
import { minutes, seconds } from "../../../platform/core/clock.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import { startTriggeredTask, type TriggeredTask } from "../../../platform/core/concurrency/triggered-task.ts";
import type { Services } from "../../../platform/core/context.ts";
import { startedPart } from "../../../platform/core/running.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { addToScope } from "./add-counts.ts";
import { correctCritical } from "./critical.ts";
import { isDue, recountVulnerabilities } from "./recount.ts";
import { changeState, stateOf, VULNERABILITY_COUNTS_LOCK } from "./state.ts";

/** Recorded differences that are added in one transaction. */
const WRITE_BATCH_SIZE = 200;
const inOrder = [{ column: "id", direction: "asc" }] as const;

/** Adds one batch of recorded differences to the counts. Returns whether more may remain. */
export async function addVulnerabilityCounts(
  services: Pick<Services, "store" | "extensions" | "clock">,
): Promise<boolean> {
  const { store, clock } = services;
  const now = clock.iso();
  if ((await store.vulnerabilityCountChanges.pick(["id"], { limit: 1 })).length === 0) return false;
  return store.tx(
    async (tx) => {
      const state = await stateOf(tx);
      if (state?.recount_until && state.recount_until > now) return false;
      const waiting = await tx.vulnerabilityCountChanges.list({ order: inOrder, limit: WRITE_BATCH_SIZE });
      if (waiting.length === 0) return false;
      const idOf = await idsOfCves(
        tx,
        waiting.flatMap(({ cves }) => cves.map(([cve]) => cve)),
      );
      const scopes = new Map<number, Map<number, number>>();
      for (const { team, cves } of waiting)
        for (const scope of [ALL_HOSTS, team]) {
          const sums = scopes.get(scope) ?? new Map<number, number>();
          scopes.set(scope, sums);
          for (const [cve, difference] of cves) {
            const id = idOf.get(cve);
            if (id !== undefined) sums.set(id, (sums.get(id) ?? 0) + difference);
          }
        }
      for (const [scope, sums] of scopes) await addToScope(tx, scope, sums);
      await correctCritical({ ...services, store: tx }, [...new Set(waiting.flatMap(({ hosts }) => hosts))]);
      await removeVulnerabilityChanges(
        tx,
        waiting.map(({ id }) => id),
      );
      await changeState(tx, state, { counted_at: now, generation: (state?.generation ?? 0) + 1 });
      return waiting.length === WRITE_BATCH_SIZE;
    },
    { lock: VULNERABILITY_COUNTS_LOCK },
  );
}

async function idsOfCves(tx: ServerTx, cves: readonly string[]): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  for await (const batch of parts([...new Set(cves)]))
    for (const { id, cve } of await tx.vulnerabilities.pick(["id", "cve"], { where: oneOf("cve", batch) }))
      ids.set(cve, id);
  return ids;
}

/** Whether all versions are being compared with vulnerability data: soon they will have other vulnerabilities. */
const isMatchingAll = async ({ store }: { readonly store: ServerTx }): Promise<boolean> =>
  (await store.vulnerabilityMatching.first({}))?.finished_at === null;

/** For how long hosts are not counted at most because all versions are being compared. */
const COMPARISON_MAX = minutes(15);

/** The share of the time that a server counts all hosts at most: 1 / (1 + this). */
const PAUSE_FACTOR = 10;

export const vulnerabilityCounts = startedPart("vulnerability counts", (services) =>
  VulnerabilityCounts.start(services),
);

class VulnerabilityCounts {
  readonly #services: Services;
  readonly #stopping = new AbortController();
  #adding!: TriggeredTask;
  #notBefore = 0;
  /** When all hosts were to be counted, and versions were being compared, for the first time since the last count. */
  #waitingSince: number | null = null;
  #later: NodeJS.Timeout | undefined;

  private constructor(services: Services) {
    this.#services = services;
  }

  static async start(services: Services): Promise<VulnerabilityCounts> {
    const counts = new VulnerabilityCounts(services);
    counts.#adding = await startTriggeredTask(
      services,
      {
        channel: channels.vulnerabilityCounts,
        least: 300,
        more: 400,
        apart: seconds(2),
        failure: "counts of vulnerabilities could not be updated",
      },
      () => counts.#addOrRecount(),
    );
    return counts;
  }

  /** Adds recorded differences, and counts all hosts if that is due and nothing more is expected. */
  update(): Promise<void> {
    return this.#adding.run();
  }

  /** Makes the counts right now. */
  async flush(): Promise<void> {
    this.#notBefore = 0;
    this.#waitingSince = Number.NEGATIVE_INFINITY;
    await this.#adding.run();
    this.#waitingSince = null;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#later);
    await this.#adding.stop();
  }

  async #addOrRecount(): Promise<void> {
    const { store, clock } = this.#services;
    while (await addVulnerabilityCounts(this.#services));
    if (this.#stopping.signal.aborted || !isDue(await stateOf(store), clock.iso())) return;
    const wait = Math.max(this.#notBefore, await this.#comparedUntil()) - performance.now();
    if (wait <= 0) return this.#recount();
    clearTimeout(this.#later);
    this.#later = setTimeout(() => this.#adding.plan(), wait);
    this.#later.unref();
  }

  async #recount(): Promise<void> {
    const started = performance.now();
    await recountVulnerabilities(this.#services, this.#stopping.signal);
    this.#waitingSince = null;
    const now = performance.now();
    this.#notBefore = now + PAUSE_FACTOR * (now - started);
  }

  /** The end of a comparison notifies this server, which counts hosts then. */
  async #comparedUntil(): Promise<number> {
    if (!(await isMatchingAll(this.#services))) return 0;
    this.#waitingSince ??= performance.now();
    return this.#waitingSince + COMPARISON_MAX;
  }
}
