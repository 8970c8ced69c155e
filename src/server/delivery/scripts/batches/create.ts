// Creates batch runs: the hosts are fixed when a run is created, also of one that starts later.
import type { ScriptBatchRun } from "../../../../api/delivery/script-batches.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { chosenIds } from "../../../inventory/host-list/chosen.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { seconds } from "../../../platform/core/clock.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { forbidden, forbiddenFor, invalid, notFound } from "../../../platform/core/errors.ts";
import { may } from "../../../platform/core/security/access.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { startTask } from "../../../platform/tasks/queue.ts";
import { type ScriptRow, scriptFor } from "../access.ts";
import { assertScriptsEnabled } from "../run.ts";
import { SCRIPT_CHANGES } from "../saved.ts";
import { scriptBatchTask } from "./carry-out.ts";

/** Milliseconds for which a caller waits until the script is in the queues of the hosts. */
const TIME_LIMIT = seconds(5);

type Target = Pick<HostRow, "id" | "display_name" | "hostname">;

export async function createBatch(ctx: Context, input: ScriptBatchRun): Promise<{ batch_execution_id: string }> {
  const script = await scriptFor(ctx, "scripts:read", input.script_id, "script_id");
  if (!may(ctx.user, "scripts:run", script.team_id)) throw forbidden();
  const { not_before } = input;
  const isLater = not_before != null && Date.parse(not_before) > ctx.clock.now();
  if (isLater && !may(ctx.user, "scripts:schedule", script.team_id))
    throw forbiddenFor("you may run scripts at once, but not schedule them: leave out not_before");
  await assertScriptsEnabled(ctx);
  const targets = await targetsOf(ctx, script, input);
  const now = ctx.clock.iso();
  const uuid = ctx.random.uuid();
  const create = async (store: ServerTx): Promise<void> => {
    await store.tx(async () => {}, SCRIPT_CHANGES);
    const inside = within(ctx, store);
    if ((await store.scripts.get(script.id)) === null) throw notFound("script", script.id, "script_id");
    const at = isLater ? new Date(not_before).toISOString() : null;
    const { id } = await store.scriptBatches.insert({
      uuid,
      created_at: now,
      script_id: script.id,
      script_name: script.name,
      team_id: script.team_id,
      user_id: ctx.user.kind === "user" ? ctx.user.id : null,
      not_before: at,
      status: isLater ? "scheduled" : "started",
      started_at: isLater ? null : now,
      finished_at: null,
      host_count: targets.length,
    });
    for await (const batch of parts(targets))
      await store.scriptBatchHosts.insertMany(
        batch.map(({ id: host_id, display_name, hostname }) => ({
          batch_id: id,
          host_id,
          display_name,
          hostname,
          execution_uuid: null,
          updated_at: now,
        })),
      );
    const { team_id, name: script_name } = script;
    const hosts = targets.map((target) => target.id);
    const details = { script_name, batch_execution_id: uuid, host_count: targets.length, team_id };
    await (isLater
      ? recordActivity(inside, "scheduled_script_batch", { ...details, not_before: at }, { hosts })
      : recordActivity(inside, "ran_script_batch", details, { hosts }));
  };
  if (isLater) await ctx.store.tx(create);
  else await startTask(ctx, scriptBatchTask, { payload: { uuid }, total: targets.length }, TIME_LIMIT, create);
  return { batch_execution_id: uuid };
}

async function targetsOf(ctx: Context, script: ScriptRow, { host_ids, filters }: ScriptBatchRun): Promise<Target[]> {
  if ((host_ids == null) === (filters == null))
    throw invalid("host_ids", "exactly one of host_ids and filters is required");
  const teamId = script.team_id ?? 0;
  if (filters && filters.team_id != null && filters.team_id !== teamId)
    throw invalid("filters.team_id", "the script and the hosts belong to different teams");
  const choice = filters ? { filters: { ...filters, team_id: teamId } } : { ids: host_ids! };
  const ids = await chosenIds(ctx, "scripts:run", choice);
  if (ids.length === 0) throw invalid(filters ? "filters" : "host_ids", "no host is selected");
  const targets: Target[] = [];
  for await (const batch of parts(ids)) {
    const rows = await ctx.store.hosts.pick(["id", "display_name", "hostname", "team_id"], {
      where: oneOf("id", batch),
    });
    const stranger = rows.find(({ team_id }) => team_id !== script.team_id);
    if (stranger && !filters)
      throw invalid("host_ids", `the script and ${stranger.display_name} belong to different teams`);
    targets.push(...rows.filter(({ team_id }) => team_id === script.team_id));
  }
  return targets;
}
