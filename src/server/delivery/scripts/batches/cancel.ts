// Cancels batch runs on the hosts on which the script has not started.

import { endOperation, lockOperations } from "../../../hosts/operations/queue.ts";
import { operations } from "../../../hosts/operations/tables.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { channels } from "../../../platform/core/channels.ts";
import { seconds } from "../../../platform/core/clock.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { conflict, forbidden } from "../../../platform/core/errors.ts";
import { may } from "../../../platform/core/security/access.ts";
import { and, eq, exists, isNull, oneOf } from "../../../platform/store/query.ts";
import { startTask } from "../../../platform/tasks/queue.ts";
import type { TaskKind } from "../../../platform/tasks/task.ts";
import { batchHostIds, lockBatch } from "./carry-out.ts";
import { batchFor } from "./view.ts";

/** Hosts in one transaction. */
const BATCH_SIZE = 100;
/** Milliseconds for which a caller waits; the rest is cancelled afterwards. */
const TIME_LIMIT = seconds(10);

const isQueued = eq("state", "queued");

/** Takes what hosts have not fetched out of their queues. */
export const cancelScriptBatch: TaskKind<{ readonly id: number }> = {
  name: "cancel_script_batch",
  async run(ctx, { payload: { id }, progress, step }) {
    let done = progress;
    for (let count = BATCH_SIZE; count === BATCH_SIZE; done += count)
      count = await step(done, async (store) => cancelSome(within(ctx, store), id));
    await step(done, (store) => recordCancel(within(ctx, store), id));
  },
};

/** Returns the number of hosts. */
async function cancelSome(inside: Context, batchId: number): Promise<number> {
  const { store } = inside;
  const batch = await store.scriptBatches.get(batchId);
  if (!batch) return 0;
  if (!may(inside.user, "hosts:cancel_activity", batch.team_id)) throw forbidden();
  const rows = await store.scriptBatchHosts.list({
    where: and(eq("batch_id", batchId), eq("state", "pending"), exists(operations, "uuid", isQueued, "execution_uuid")),
    limit: BATCH_SIZE,
  });
  await lockOperations(
    store,
    rows.map(({ host_id }) => host_id),
  );
  const uuids = rows.flatMap(({ execution_uuid }) => execution_uuid ?? []);
  // A host may have fetched it before it was locked.
  for (const operation of await store.operations.list({ where: and(oneOf("uuid", uuids), isQueued) }))
    await endOperation(inside, operation, { state: "cancelled", result: null });
  return rows.length;
}

async function recordCancel(inside: Context, batchId: number): Promise<void> {
  const { store } = inside;
  const batch = await store.scriptBatches.get(batchId);
  if (!batch) return;
  const canceled = await batchHostIds(store, and(eq("batch_id", batchId), eq("state", "canceled")));
  await recordActivity(
    inside,
    "canceled_script_batch",
    {
      batch_execution_id: batch.uuid,
      script_name: batch.script_name,
      host_count: batch.host_count,
      canceled_count: canceled.length,
    },
    { hosts: canceled },
  );
}

export async function cancelBatch(ctx: Context, uuid: string): Promise<Record<string, never>> {
  const { id, host_count } = await batchFor(ctx, "hosts:cancel_activity", uuid);
  const isToCancel = await ctx.store.tx(async (store) => {
    await lockBatch(store, uuid);
    const batch = await store.scriptBatches.get(id);
    if (!batch || batch.canceled) return false;
    if (batch.status === "finished") throw conflict("the run has ended already");
    const updated_at = ctx.clock.iso();
    // Nothing has been queued of a run that has not started.
    const isOver = batch.status === "scheduled";
    await store.scriptBatchHosts.update({
      where: and(eq("batch_id", id), eq("state", "pending"), isNull("execution_uuid")),
      set: { state: "canceled", updated_at },
    });
    await store.scriptBatches.update({
      where: eq("id", id),
      set: { canceled: true, ...(isOver ? { status: "finished", finished_at: updated_at, is_queued: true } : {}) },
    });
    if (isOver) await recordCancel(within(ctx, store), id);
    await store.notify(channels.scriptBatches, "");
    return !isOver;
  });
  if (isToCancel) await startTask(ctx, cancelScriptBatch, { payload: { id }, total: host_count }, TIME_LIMIT);
  return {};
}
