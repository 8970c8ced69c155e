// Runs of a saved script on many hosts.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, Meta, paging, pagingAfter, QueryTeam, Timestamp } from "../fields.ts";
import { SelectionHeaders } from "../hosts/selection.ts";
import { BodyHostFilter } from "../inventory/host-filters.ts";

export const ScriptBatch = z.object({
  script_id: Id.nullable().meta({ description: "null: the script was deleted" }),
  script_name: z.string(),
  batch_execution_id: z.string(),
  team_id: Id.nullable(),
  not_before: Timestamp.nullable(),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  created_at: Timestamp,
  status: z.enum(["scheduled", "started", "finished"]),
  canceled: z.boolean(),
  targeted_host_count: z.int(),
  ran_host_count: z.int(),
  pending_host_count: z.int(),
  errored_host_count: z.int(),
  incompatible_host_count: z.int(),
  canceled_host_count: z.int(),
});
export type ScriptBatch = z.infer<typeof ScriptBatch>;

const batchHostStates = ["ran", "pending", "errored", "incompatible", "canceled"] as const;

export const ScriptBatchHost = z.object({
  id: Id,
  display_name: z.string(),
  script_status: z.enum(batchHostStates),
  script_execution_id: z.string().nullable(),
  script_executed_at: Timestamp.nullable(),
  script_output_preview: z
    .string()
    .meta({ description: "the beginning of what the script has written, or why it was not run" }),
});
export type ScriptBatchHost = z.infer<typeof ScriptBatchHost>;

const body = z.object({
  script_id: Id,
  host_ids: z.array(Id).min(1).max(100_000).nullish(),
  filters: BodyHostFilter.nullish().meta({ description: "instead of host_ids; limited to the team of the script" }),
  not_before: z.iso
    .datetime({ offset: true })
    .nullish()
    .meta({ description: "the earliest time; in the past, or absent: at once" }),
});
export type ScriptBatchRun = z.output<typeof body>;

const read = { action: "scripts:read", scope: "team" } as const;
const run = { action: "scripts:run", scope: "team" } as const;
const params = z.object({ batch_execution_id: z.string().min(1).max(255) });
const path = "/scripts/batch/:batch_execution_id";

export const scriptBatchesApi = {
  create: endpoint({
    method: "POST",
    path: "/scripts/run/batch",
    summary: "Run a saved script on many hosts, at once or later; the hosts are fixed when the run is created.",
    access: run,
    headers: SelectionHeaders,
    body,
    status: 202,
    response: z.object({ batch_execution_id: z.string() }),
  }),
  list: endpoint({
    method: "GET",
    path: "/scripts/batch",
    summary: "List the runs of scripts on many hosts, newest first.",
    access: read,
    query: paging("created_at").extend({
      team_id: QueryTeam.optional(),
      status: z.enum(["started", "scheduled", "finished"]).optional(),
    }),
    response: z.object({ batch_executions: z.array(ScriptBatch), meta: Meta, count: z.int() }),
  }),
  get: endpoint({
    method: "GET",
    path,
    aliases: ["/scripts/batch/summary/:batch_execution_id"],
    summary: "Show a run of a script on many hosts, and on how many it has ended.",
    access: read,
    params,
    response: ScriptBatch,
  }),
  hosts: endpoint({
    method: "GET",
    path: `${path}/host-results`,
    aliases: [`${path}/host_results`],
    summary: "List the hosts of a run with their results.",
    access: read,
    params,
    query: pagingAfter("display_name", "hostname", "updated_at").extend({ status: z.enum(batchHostStates) }),
    response: z.object({ hosts: z.array(ScriptBatchHost), meta: Meta, count: z.int() }),
  }),
  cancel: endpoint({
    method: "POST",
    path: `${path}/cancel`,
    summary: "Cancel a run on the hosts on which it has not started.",
    access: { action: "hosts:cancel_activity", scope: "team" },
    params,
    response: Empty,
  }),
};
