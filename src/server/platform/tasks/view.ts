// Tasks as users see them: their own, and all of them for those who may run the server's jobs.
import type { Task, TaskQuery } from "../../../api/platform/tasks.ts";
import { recordActivity } from "../activities/record.ts";
import { channels } from "../core/channels.ts";
import type { Context } from "../core/context.ts";
import { within } from "../core/context.ts";
import { conflict, notFound } from "../core/errors.ts";
import { page } from "../core/http/paging.ts";
import { may } from "../core/security/access.ts";
import { and, eq, everything, oneOf, type Predicate } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { tasks } from "./tables.ts";

export type TaskRow = RowOf<typeof tasks>;

const shown = ({ user }: Context): Predicate =>
  may(user, "jobs:trigger", null) ? everything : eq("requested_by", user.id);

export async function listTasks(ctx: Context, query: TaskQuery) {
  const where = and(
    shown(ctx),
    query.state === undefined ? everything : eq("state", query.state),
    query.kind === undefined ? everything : eq("kind", query.kind),
  );
  const newest = { defaultOrder: [{ column: "id", direction: "desc" }] } as const;
  const { rows, meta } = await page(ctx.store.tasks, query, where, newest);
  return { tasks: rows.map(onWire), meta };
}

export async function getTask(ctx: Context, id: number): Promise<Task> {
  const row = await ctx.store.tasks.first({ where: and(eq("id", id), shown(ctx)) });
  if (!row) throw notFound("task", id);
  return onWire(row);
}

/** The task ends before its next step. To cancel it again changes nothing. 409 if it has ended already. */
export async function cancelTask(ctx: Context, id: number): Promise<Task> {
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const before = await getTask(inside, id);
    const open = and(eq("id", id), oneOf("state", ["queued", "running"]));
    const where = and(open, eq("cancel_requested", false));
    if ((await store.tasks.update({ where, set: { cancel_requested: true, retry_at: null } })) === 0) {
      const now = await getTask(inside, id);
      if (now.finished_at === null) return now;
      throw conflict(`task ${id} has ended: it is ${now.state}`);
    }
    await recordActivity(inside, "canceled_task", { task_id: id, task_kind: before.kind });
    await store.notify(channels.tasks, "");
    return getTask(inside, id);
  });
}

const onWire = (row: TaskRow): Task => ({
  id: row.id,
  created_at: row.created_at,
  kind: row.kind,
  state: row.state,
  requested_by:
    row.requester_email === "" ? null : { id: row.requested_by, name: row.requester_name, email: row.requester_email },
  progress: row.progress,
  total: row.total,
  cancel_requested: row.cancel_requested,
  attempts: row.attempts,
  retry_at: row.retry_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
  error: row.error,
});
