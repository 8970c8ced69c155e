// The numbers of passing and failing hosts of each policy. Transactions that change results record differences, which
// one of the servers adds to the counts shortly afterwards.
import { channels } from "../../platform/core/channels.ts";
import { startTriggeredTask } from "../../platform/core/concurrency/triggered-task.ts";
import type { Services } from "../../platform/core/context.ts";
import { startedPart } from "../../platform/core/running.ts";
import type { ServerStore, ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt, has, lte, oneOf } from "../../platform/store/query.ts";

/** Lock for transactions that change policies or their counts. */
export const POLICIES_LOCK = "policies";

const CHANGES_BATCH_SIZE = 2_000;
const byId = [{ column: "id", direction: "asc" }] as const;

/** Adds one batch of recorded differences to the counts. Returns whether more may remain. */
export async function addCounts(store: ServerTx, now: string): Promise<boolean> {
  if ((await store.policyCountChanges.first({})) === null) return false;
  return store.tx((tx) => addPending(tx, now), { lock: POLICIES_LOCK });
}

async function addPending(tx: ServerTx, now: string): Promise<boolean> {
  const waiting = await tx.policyCountChanges.list({ order: byId, limit: CHANGES_BATCH_SIZE });
  if (waiting.length === 0) return false;
  const sums = new Map<number, { passing: number; failing: number }>();
  for (const { changes } of waiting)
    for (const [id, passing, failing] of changes) {
      const sum = sums.get(id) ?? { passing: 0, failing: 0 };
      sums.set(id, { passing: sum.passing + passing, failing: sum.failing + failing });
    }
  // Ignore results of policies that were deleted or reset.
  const rows = await tx.policies.pick(["id", "result_id", "passing_host_count", "failing_host_count"], {
    where: oneOf("result_id", [...sums.keys()]),
  });
  if (rows.length > 0)
    await tx.policies.updateEach(
      rows.map((row) => ({
        id: row.id,
        passing_host_count: Math.max(0, row.passing_host_count + sums.get(row.result_id)!.passing),
        failing_host_count: Math.max(0, row.failing_host_count + sums.get(row.result_id)!.failing),
        host_count_updated_at: now,
      })),
    );
  await tx.policyCountChanges.delete(
    oneOf(
      "id",
      waiting.map(({ id }) => id),
    ),
  );
  return waiting.length === CHANGES_BATCH_SIZE;
}

interface PolicyCounts {
  /** Processes all recorded differences now. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export const policyCounts = startedPart("policy counts", startPolicyCounts);

async function startPolicyCounts(services: Services): Promise<PolicyCounts> {
  const { store, clock } = services;
  const options = {
    channel: channels.policyCounts,
    least: 100,
    more: 150,
    failure: "policy counts could not be updated",
  };
  const adding = await startTriggeredTask(services, options, async () => {
    while (await addCounts(store, clock.iso()));
  });
  return { flush: adding.run, stop: adding.stop };
}

const TRIES = 5;

/**
 * Recounts the hosts of a policy. Retries if another transaction changes results meanwhile, which would count twice.
 */
export async function recount(store: ServerStore, policyId: number, now: string): Promise<void> {
  const counted = (): Promise<boolean> =>
    store.tx(
      async (tx) => {
        while (await addPending(tx, now));
        const policy = await tx.policies.get(policyId);
        if (!policy) return true;
        const passing_host_count = await tx.hostPolicies.count(has("passing", policy.result_id));
        const failing_host_count = await tx.hostPolicies.count(has("failing", policy.result_id));
        const since = await tx.policyCountChanges.list();
        if (since.some(({ changes }) => changes.some(([id]) => id === policy.result_id))) return false;
        const set = { passing_host_count, failing_host_count, host_count_updated_at: now };
        await tx.policies.update({ where: eq("id", policyId), set });
        return true;
      },
      { lock: POLICIES_LOCK },
    );
  for (let tries = 0; tries < TRIES; tries++) if (await counted()) return;
}

/** Hosts examined per query. */
const BATCH_SIZE = 1_000;

/** Result ids in host rows that belong to no policy. */
export async function deadResults(store: ServerStore, signal: AbortSignal): Promise<number[]> {
  const resultIds = new Set<number>();
  for (let last = 0; !signal.aborted; ) {
    const slice = await store.hostPolicies.pick(["id"], { where: gt("id", last), order: byId, limit: BATCH_SIZE });
    const end = slice.at(-1)?.id;
    if (end === undefined) break;
    const where = and(gt("id", last), lte("id", end));
    for (const column of ["passing", "failing"] as const)
      for (const { value } of await store.hostPolicies.groupCount(column, where))
        if (typeof value === "number") resultIds.add(value);
    last = end;
  }
  // Read after the hosts, so that the results of a policy created meanwhile are not taken for dead.
  for (const { result_id } of await store.policies.pick(["result_id"])) resultIds.delete(result_id);
  return [...resultIds];
}
