// Batch runs as users see them.

import type { z } from "zod";
import type { Action } from "../../../../api/access.ts";
import type { ScriptBatch, ScriptBatchHost, scriptBatchesApi } from "../../../../api/delivery/script-batches.ts";
import type { Context } from "../../../platform/core/context.ts";
import { forbidden, notFound } from "../../../platform/core/errors.ts";
import { page } from "../../../platform/core/http/paging.ts";
import { inTeam, may } from "../../../platform/core/security/access.ts";
import { and, eq, everything, oneOf } from "../../../platform/store/query.ts";
import { teamScope } from "../../../settings/teams/access.ts";
import type { BatchRow } from "./carry-out.ts";

/** A run of a team that the caller cannot see is answered like a missing one. */
export async function batchFor(ctx: Context, action: Action, uuid: string): Promise<BatchRow> {
  const batch = await ctx.store.scriptBatches.first({ where: eq("uuid", uuid) });
  if (!batch || !may(ctx.user, "scripts:read", batch.team_id)) throw notFound("batch run", uuid);
  if (!may(ctx.user, action, batch.team_id)) throw forbidden();
  return batch;
}

export const getBatch = async (ctx: Context, uuid: string): Promise<ScriptBatch> =>
  onWire(ctx, await batchFor(ctx, "scripts:read", uuid));

export async function listBatches(ctx: Context, query: z.output<typeof scriptBatchesApi.list.query>) {
  const { team_id } = await teamScope(ctx, "scripts:read", query.team_id);
  const where = and(inTeam(team_id ?? 0), query.status === undefined ? everything : eq("status", query.status));
  const { rows, meta } = await page(ctx.store.scriptBatches, query, where, {
    defaultOrder: [{ column: "id", direction: "desc" }],
  });
  const batch_executions = await Promise.all(rows.map((row) => onWire(ctx, row)));
  return { batch_executions, meta, count: await ctx.store.scriptBatches.count(where) };
}

async function onWire({ store }: Context, batch: BatchRow): Promise<ScriptBatch> {
  const groups = await store.scriptBatchHosts.groupCount("state", eq("batch_id", batch.id));
  const counts = new Map(groups.map(({ value, count }) => [value, count]));
  const { script_id, script_name, team_id, not_before, started_at, finished_at, created_at, status, canceled } = batch;
  return {
    script_id,
    script_name,
    batch_execution_id: batch.uuid,
    team_id,
    not_before,
    started_at,
    finished_at,
    created_at,
    status,
    canceled,
    targeted_host_count: batch.host_count,
    ran_host_count: counts.get("ran") ?? 0,
    pending_host_count: counts.get("pending") ?? 0,
    errored_host_count: counts.get("errored") ?? 0,
    incompatible_host_count: counts.get("incompatible") ?? 0,
    canceled_host_count: counts.get("canceled") ?? 0,
  };
}

/** Characters of the output. */
const PREVIEW = 100;

export async function hostsOfBatch(
  ctx: Context,
  uuid: string,
  { status, ...query }: z.output<typeof scriptBatchesApi.hosts.query>,
) {
  const { id } = await batchFor(ctx, "scripts:read", uuid);
  const where = and(eq("batch_id", id), eq("state", status));
  const { rows, meta } = await page(ctx.store.scriptBatchHosts, query, where, {
    defaultOrder: [{ column: "display_name", direction: "asc" }],
  });
  const executions = await ctx.store.scriptExecutions.pick(["uuid", "output", "ended_at"], {
    where: oneOf(
      "uuid",
      rows.flatMap(({ execution_uuid }) => execution_uuid ?? []),
    ),
  });
  const executionOf = new Map(executions.map((execution) => [execution.uuid, execution]));
  const hosts = rows.map(({ host_id, display_name, state, reason, execution_uuid }): ScriptBatchHost => {
    const execution = executionOf.get(execution_uuid ?? "");
    return {
      id: host_id,
      display_name,
      script_status: state,
      script_execution_id: execution_uuid,
      script_executed_at: execution?.ended_at ?? null,
      script_output_preview: reason || (execution?.output ?? "").slice(0, PREVIEW),
    };
  });
  return { hosts, meta, count: await ctx.store.scriptBatchHosts.count(where) };
}
