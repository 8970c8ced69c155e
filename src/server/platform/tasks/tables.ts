import type { taskHostOutcomes, taskStates } from "../../../api/platform/tasks.ts";
import { leaseColumns } from "../core/concurrency/lease.ts";
import { bool, id, idOf, int, packed, ref, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly tasks: typeof tasks;
    readonly taskPayloads: typeof taskPayloads;
    readonly taskHosts: typeof taskHosts;
  }
}

type TaskState = (typeof taskStates)[number];

/** Work that a request has left behind. Any server continues it when its own has stopped. */
export const tasks = table("tasks", {
  id: id(),
  created_at: time().index(),
  kind: text(),
  state: text<TaskState>().default("queued").index(),
  /** Null: the server itself, or a user who was deleted. Name and address are kept as they were. */
  requested_by: ref("users").nullable().index(),
  requester_name: text().default(""),
  /** Empty: the server itself. */
  requester_email: text().default(""),
  /** How many of `total` units are done. Each step of the work records it in its own transaction. */
  progress: int().default(0),
  total: int(),
  /** Failed attempts. */
  attempts: int().default(0),
  /** The next attempt is not made before this time. */
  retry_at: time().nullable(),
  /** Set by a request. Whoever runs the task next, or runs it now, ends it before the next step. */
  cancel_requested: bool().default(false),
  started_at: time().nullable(),
  finished_at: time().nullable().index(),
  /** Why the last attempt failed. */
  error: text().default(""),
  ...leaseColumns,
});

/** What the task has to do, kept until it has ended. A table of its own, as it may be large. */
export const taskPayloads = table("task_payloads", { id: idOf("tasks"), payload: packed<unknown>() });

/** What came of a task on each of the hosts that it has reached. Written in the step that acts on the host. */
export const taskHosts = table(
  "task_hosts",
  {
    id: id(),
    task_id: ref("tasks"),
    /** Not a reference, because the record outlives the host. */
    host_id: int(),
    display_name: text(),
    outcome: text<(typeof taskHostOutcomes)[number]>(),
    /** Why the host was skipped, in words that fit every host that was skipped for it. */
    reason: text().default(""),
    /** What was queued for the host, where it has an id of its own. */
    reference: text().default(""),
  },
  { unique: [["task_id", "host_id"]], indexes: [["task_id", "outcome", "reason"]] },
);
