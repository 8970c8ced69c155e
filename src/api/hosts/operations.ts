// What is asked of hosts and lasts until they have answered, of all hosts together.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import {
  CursorMeta,
  cursorQuery,
  Id,
  IdParam,
  pagingUpTo,
  QueryId,
  QueryTeam,
  QueryText,
  Timestamp,
} from "../fields.ts";
import { SelectionHeaders } from "./selection.ts";

export const operationStates = ["queued", "sent", "answered", "failed", "cancelled", "expired"] as const;

/** Maximum number of operations in one reply or one cancellation. */
export const OPERATIONS_MAX = 1000;

export const HostOperation = z.object({
  id: Id,
  uuid: z.string(),
  kind: z.string().meta({ description: "such as run_script, software_install, lock or apple_profile" }),
  state: z.enum(operationStates),
  host: z.object({ id: Id, display_name: z.string(), team_id: Id.nullable() }),
  requested_by: z
    .object({ id: Id, name: z.string() })
    .nullable()
    .meta({ description: "null: the server itself, a user of the host, or a deleted user" }),
  source: z.enum(["user", "policy", "batch", "self_service", "server"]).meta({ description: "why it was requested" }),
  detail: z.string().meta({ description: "name of the script, title of the software, or type of the command" }),
  created_at: Timestamp,
  sent_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  attempts: z.int().meta({ description: "how often it was sent" }),
  position_in_queue: z.int().nullable().meta({
    description: "1: the next one of those that reach the host in this way; null: it has ended",
  }),
  can_cancel: z.boolean().meta({ description: "whether the caller may cancel it now" }),
  reason_not_cancellable: z.string().nullable(),
});
export type HostOperation = z.infer<typeof HostOperation>;

const stateFilter = z.string().max(200).optional();
const kindFilter = z.string().max(2000).optional();
const since = z.iso.datetime({ offset: true }).optional().meta({ description: "only those requested since this time" });
const states = `separated by commas: ${operationStates.join(", ")}`;
const kinds = "kinds, separated by commas";

const queryFilters = {
  state: stateFilter.meta({ description: states }),
  kind: kindFilter.meta({ description: kinds }),
  host_id: QueryId.optional().meta({ description: "only those of this host" }),
  team_id: QueryTeam.optional(),
  requested_by: QueryId.optional().meta({ description: "only those that the user with this id has requested" }),
  task_id: QueryId.optional().meta({
    description: "only those that the task with this id has queued: it locks, unlocks, wipes or installs",
  }),
  query: QueryText.optional().meta({ description: "searches the names of hosts" }),
  since,
};

/** The filters of the list, in a body. */
export const OperationFilters = z.object({
  state: stateFilter.meta({ description: "queued, sent, or both, separated by a comma; both if it is absent" }),
  kind: kindFilter.meta({ description: kinds }),
  host_id: Id.optional(),
  team_id: z.int().min(0).optional().meta({ premium: true, description: "0 = no team (premium)" }),
  requested_by: Id.optional(),
  task_id: Id.optional(),
  query: QueryText.optional(),
  since,
});
export type OperationFilters = z.output<typeof OperationFilters>;

export const OperationQuery = pagingUpTo(OPERATIONS_MAX, "id", "created_at").extend({
  ...queryFilters,
  after: z.string().max(1024).optional().meta({ description: "needs order_key" }),
  ...cursorQuery,
});
export type OperationQuery = z.output<typeof OperationQuery>;

export const operationsApi = {
  list: endpoint({
    method: "GET",
    path: "/operations",
    summary: "List what is asked of hosts: locks, scripts, installations, commands and others, newest first.",
    access: { action: "hosts:read_activities", scope: "team" },
    query: OperationQuery,
    response: z.object({ operations: z.array(HostOperation), meta: CursorMeta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/operations/:id",
    summary: "Get an operation of a host.",
    access: { action: "hosts:read_activities", scope: "team" },
    params: z.object({ id: IdParam }),
    response: z.object({ operation: HostOperation }),
  }),
  cancel: endpoint({
    method: "POST",
    path: "/operations/cancel",
    summary: `Cancel up to ${OPERATIONS_MAX} operations that hosts have not begun, by their ids or by filters.`,
    access: { action: "hosts:cancel_activity", scope: "team" },
    headers: SelectionHeaders,
    body: z.object({
      ids: z.array(Id).min(1).max(OPERATIONS_MAX).optional(),
      filters: OperationFilters.optional(),
    }),
    response: z.object({
      cancelled: z.array(Id),
      not_cancelled: z.array(z.object({ id: Id, reason: z.string() })),
    }),
  }),
};
