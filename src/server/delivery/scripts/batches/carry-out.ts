// Carries out batch runs: queues the script on each host, and ends what has been answered.

import { addOperations, isOpen, lockOperations, openOperations } from "../../../hosts/operations/queue.ts";
import { operations } from "../../../hosts/operations/tables.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { channels } from "../../../platform/core/channels.ts";
import { minutes, seconds } from "../../../platform/core/clock.ts";
import { startTriggeredTask } from "../../../platform/core/concurrency/triggered-task.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import { forbidden } from "../../../platform/core/errors.ts";
import type { Job } from "../../../platform/core/job.ts";
import { byId } from "../../../platform/core/maps.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { may } from "../../../platform/core/security/access.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, exists, isNull, lte, not, oneOf, type Predicate } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { addTask } from "../../../platform/tasks/queue.ts";
import { contextOf, REQUESTER_GONE } from "../../../platform/tasks/requester.ts";
import type { TaskKind } from "../../../platform/tasks/task.ts";
import { extensionOf, runsOn, scriptText } from "../../../software/script-texts/texts.ts";
import { runScript } from "../kind.ts";
import { QUEUED_MAX, timeoutOf } from "../run.ts";
import { scriptBatches, scriptBatchHosts } from "../tables.ts";

export type BatchRow = RowOf<typeof scriptBatches>;
type BatchHost = RowOf<typeof scriptBatchHosts>;

/** Hosts in one transaction: few enough that other requests do not wait long. */
const BATCH_SIZE = 100;

/** Hosts that were not looked at yet. */
const unqueued = and(eq("state", "pending"), isNull("execution_uuid"));

/** Queues the script on the hosts of a batch run, in the name of the user who has asked for it. */
export const scriptBatchTask: TaskKind<{ readonly uuid: string }> = {
  name: "script_batch",
  async run(ctx, { payload: { uuid }, progress, step }) {
    for (let done = progress, count = BATCH_SIZE; count === BATCH_SIZE; done += count)
      count = await step(done, async (store) => queueSome(within(ctx, store), uuid));
  },
  async ended({ store, clock }, { uuid }, { state, error }) {
    const batch = await store.scriptBatches.first({ where: eq("uuid", uuid) });
    if (!batch) return;
    // What was not queued, because the task has failed or was cancelled, will not run.
    const reason = state === "done" ? "" : error || "it was cancelled";
    await store.scriptBatchHosts.update({
      where: and(eq("batch_id", batch.id), unqueued),
      set: { state: "canceled", reason, updated_at: clock.iso() },
    });
    await store.scriptBatches.update({ where: eq("id", batch.id), set: { is_queued: true } });
    await store.notify(channels.scriptBatches, "");
  },
};

/** Serializes queueing and cancelling, in the caller's transaction. */
export const lockBatch = (store: ServerTx, uuid: string): Promise<void> =>
  store.tx(async () => {}, { lock: `script-batch-${uuid}` });

/** Returns the number of hosts. */
async function queueSome(inside: Context, uuid: string): Promise<number> {
  const { store, clock } = inside;
  await lockBatch(store, uuid);
  const batch = await store.scriptBatches.first({ where: eq("uuid", uuid) });
  const script = batch?.script_id == null ? null : await store.scripts.get(batch.script_id);
  if (!batch || !script || batch.canceled) return 0;
  if (!may(inside.user, "scripts:run", batch.team_id)) throw forbidden();
  const rows = await store.scriptBatchHosts.list({ where: and(eq("batch_id", batch.id), unqueued), limit: BATCH_SIZE });
  const hostIds = rows.map(({ host_id }) => host_id);
  await lockOperations(store, hostIds);
  const refused = await refusals(inside, batch, rows);
  const accepted = rows.filter(({ id }) => !refused.has(id));
  const added = await addOperations(inside, runScript, {
    hostIds: accepted.map(({ host_id }) => host_id),
    content: await scriptText(store, script.text_id),
    timeout: await timeoutOf({ ...inside, config: inside.config.over(store) }, batch.team_id),
  });
  await store.scriptExecutions.insertMany(
    accepted.map(({ host_id, hostname }, i) => ({
      uuid: added[i]!.uuid,
      host_id,
      hostname,
      team_id: batch.team_id,
      script_id: script.id,
      script_name: script.name,
      text_id: script.text_id,
      batch_uuid: batch.uuid,
      exit_code: null,
      created_at: added[i]!.created_at,
      ended_at: null,
    })),
  );
  const updated_at = clock.iso();
  await store.scriptBatchHosts.updateEach(
    accepted.map(({ id }, i) => ({ id, execution_uuid: added[i]!.uuid, updated_at })),
  );
  await store.scriptBatchHosts.updateEach([...refused].map(([id, refusal]) => ({ id, ...refusal, updated_at })));
  return rows.length;
}

type Refusal = Pick<BatchHost, "state" | "reason">;

/** The hosts on which the script does not run, by the id of their row. Their operations are locked. */
async function refusals(
  { store }: Context,
  batch: BatchRow,
  rows: readonly BatchHost[],
): Promise<ReadonlyMap<number, Refusal>> {
  const hostIds = rows.map(({ host_id }) => host_id);
  const [hosts, agents, open] = await Promise.all([
    store.hosts.pick(["id", "team_id", "platform", "platform_like", "scripts_enabled"], {
      where: oneOf("id", hostIds),
    }),
    store.managedAgents.pick(["id"], { where: oneOf("id", hostIds) }),
    openOperations(store, hostIds),
  ]);
  const [hostOf, agentOf] = [byId(hosts), byId(agents)];
  const waiting = new Map<number, number>();
  for (const { host_id, kind } of open)
    if (kind === runScript.name) waiting.set(host_id, (waiting.get(host_id) ?? 0) + 1);
  const extension = extensionOf(batch.script_name, "script_id");
  const refusalOf = (id: number): Refusal | null => {
    const host = hostOf.get(id);
    if (!host) return { state: "canceled", reason: "the host was deleted" };
    if (host.team_id !== batch.team_id) return { state: "incompatible", reason: "the host is in another team now" };
    if (!runsOn(extension, host.platform, host.platform_like))
      return { state: "incompatible", reason: `the script cannot run on ${host.platform || "an unknown platform"}` };
    if (!agentOf.has(id)) return { state: "incompatible", reason: "the host has no managed agent, which runs scripts" };
    if (host.scripts_enabled === false) return { state: "incompatible", reason: "scripts are disabled on the host" };
    if ((waiting.get(id) ?? 0) >= QUEUED_MAX)
      return { state: "errored", reason: `${QUEUED_MAX} scripts are waiting for the host` };
    return null;
  };
  return new Map(
    rows.flatMap(({ id, host_id }) => {
      const refusal = refusalOf(host_id);
      return refusal ? [[id, refusal] as const] : [];
    }),
  );
}

/** The hosts of these rows of runs. */
export const batchHostIds = async (store: ServerTx, where: Predicate): Promise<number[]> =>
  (await store.scriptBatchHosts.pick(["host_id"], { where })).map(({ host_id }) => host_id);

/** Starts runs whose time has come, in the name of those who have asked for them. */
async function startDue(ctx: Context): Promise<void> {
  const due = and(eq("status", "scheduled"), lte("not_before", ctx.clock.iso()));
  for (const batch of await ctx.store.scriptBatches.list({ where: due })) {
    const requester = batch.user_id === null ? null : await contextOf(ctx, batch.user_id);
    await ctx.store.tx(async (store) => {
      const started = await store.scriptBatches.update({
        where: and(eq("id", batch.id), eq("status", "scheduled")),
        set: { status: "started", started_at: ctx.clock.iso() },
      });
      if (started === 0) return;
      if (requester === null) {
        await scriptBatchTask.ended!(within(ctx, store), { uuid: batch.uuid }, GONE);
        return;
      }
      const inside = within(requester, store);
      const { script_name, uuid, host_count, team_id } = batch;
      const details = { script_name, batch_execution_id: uuid, host_count, team_id };
      await recordActivity(inside, "ran_script_batch", details, {
        hosts: await batchHostIds(store, eq("batch_id", batch.id)),
      });
      await addTask(inside, scriptBatchTask, { payload: { uuid }, total: host_count });
    });
  }
}

const GONE = { state: "failed", error: REQUESTER_GONE } as const;

/** Ends runs in which every host has answered, or will not any more. */
async function finishRuns({ store, clock }: Context): Promise<void> {
  const isRunning = and(eq("status", "started"), eq("is_queued", true));
  const running = exists(scriptBatches, "id", isRunning, "batch_id");
  // Operations end without an answer when their host is deleted, or enrolls again.
  const isLost = and(
    eq("state", "pending"),
    not(isNull("execution_uuid")),
    not(exists(operations, "uuid", isOpen, "execution_uuid")),
    running,
  );
  await store.scriptBatchHosts.update({
    where: isLost,
    set: { state: "canceled", reason: "the host was deleted, or has enrolled again", updated_at: clock.iso() },
  });
  await store.scriptBatches.update({
    where: and(isRunning, not(exists(scriptBatchHosts, "batch_id", eq("state", "pending")))),
    set: { status: "finished", finished_at: clock.iso() },
  });
}

export async function settleBatches(services: Services): Promise<void> {
  const ctx = serviceContext(services, "batch runs of scripts");
  await startDue(ctx);
  await finishRuns(ctx);
}

/** Ends runs soon after the last answer. */
export const scriptBatchRuns = startedPart("batch runs of scripts", (services) =>
  startTriggeredTask(
    services,
    {
      channel: channels.scriptBatches,
      least: 100,
      more: 200,
      apart: seconds(1),
      failure: "cannot settle batch runs of scripts; trying again",
    },
    () => settleBatches(services),
  ),
);

/** Starts what was scheduled. */
export const scriptBatchesJob: Job = {
  name: "script_batches",
  every: minutes(1) / 4,
  run: (services) => settleBatches(services),
};
