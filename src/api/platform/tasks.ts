// Work that requests have left behind and the servers are doing, such as the delete of many hosts.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, Meta, Person, paging, pagingAfter, Timestamp } from "../fields.ts";

export const taskStates = ["queued", "running", "done", "failed", "cancelled"] as const;

export const Task = z.object({
  id: Id,
  created_at: Timestamp,
  kind: z.string().meta({ description: "what it does, such as delete_hosts" }),
  state: z.enum(taskStates),
  requested_by: Person.nullable().meta({ description: "null: the server itself" }),
  progress: z.int().meta({ description: "how many of `total` units are done" }),
  total: z.int(),
  cancel_requested: z.boolean().meta({ description: "it ends before its next step" }),
  attempts: z.int().meta({ description: "failed attempts" }),
  retry_at: Timestamp.nullable().meta({ description: "after a failed attempt: the next one" }),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  error: z.string().meta({ description: "why the last attempt failed" }),
});
export type Task = z.infer<typeof Task>;

export const TaskQuery = paging("id", "created_at", "finished_at").extend({
  state: z.enum(taskStates).optional(),
  kind: z.string().max(64).optional(),
});
export type TaskQuery = z.output<typeof TaskQuery>;

export const taskHostOutcomes = ["done", "skipped"] as const;

/** What came of a task on a host. */
export const TaskHost = z.object({
  id: Id.meta({ description: "of the host, which may have been deleted since" }),
  display_name: z.string(),
  outcome: z.enum(taskHostOutcomes).meta({ description: "done: what was requested is queued for the host, or done" }),
  reason: z.string().meta({ description: "why the host was skipped" }),
  reference: z.string().meta({
    description: "uuid of the operation or installation that was queued for the host; empty if there is none",
  }),
});
export type TaskHost = z.infer<typeof TaskHost>;

export const TaskHostQuery = pagingAfter("id", "display_name", "outcome", "reason").extend({
  outcome: z.enum(taskHostOutcomes).optional(),
  reason: z.string().max(1024).optional().meta({ description: "only hosts that were skipped for exactly this reason" }),
});
export type TaskHostQuery = z.output<typeof TaskHostQuery>;

const params = z.object({ id: IdParam });
const response = z.object({ task: Task });

export const tasksApi = {
  list: endpoint({
    method: "GET",
    path: "/tasks",
    summary: "List tasks: your own, or all of them for a global admin, newest first.",
    access: "user",
    query: TaskQuery,
    response: z.object({ tasks: z.array(Task), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/tasks/:id",
    summary: "Get a task and its progress.",
    access: "user",
    params,
    response,
  }),
  hosts: endpoint({
    method: "GET",
    path: "/tasks/:id/hosts",
    summary: "List the hosts that a task on many hosts has reached, with what came of it; no hosts for other tasks.",
    access: "user",
    params,
    query: TaskHostQuery,
    response: z.object({ hosts: z.array(TaskHost), meta: Meta, count: z.int() }),
  }),
  cancel: endpoint({
    method: "POST",
    path: "/tasks/:id/cancel",
    summary: "Cancel a task. What it has done so far stays done.",
    access: "user",
    params,
    response,
  }),
};
