// What came of a task on its hosts.
import type { TaskHost, TaskHostQuery } from "../../../api/platform/tasks.ts";
import type { Context } from "../core/context.ts";
import { page } from "../core/http/paging.ts";
import type { ServerTx } from "../core/tables.ts";
import { and, eq, everything, type OrderTerm } from "../store/query.ts";
import type { InsertOf } from "../store/table.ts";
import type { taskHosts } from "./tables.ts";
import { getTask } from "./view.ts";

export type TaskHostRow = InsertOf<typeof taskHosts>;

/** Records what came of hosts, in the step that acts on them. */
export async function recordTaskHosts(store: ServerTx, rows: readonly TaskHostRow[]): Promise<void> {
  await store.taskHosts.insertMany(rows, { returning: [] });
}

export async function listTaskHosts(ctx: Context, taskId: number, { outcome, reason, ...query }: TaskHostQuery) {
  await getTask(ctx, taskId);
  const where = and(
    eq("task_id", taskId),
    outcome === undefined ? everything : eq("outcome", outcome),
    reason === undefined ? everything : and(eq("outcome", "skipped"), eq("reason", reason)),
  );
  const { rows, meta } = await page(ctx.store.taskHosts, query, where, { defaultOrder, orderBy });
  const hosts = rows.map(
    ({ host_id, display_name, outcome, reason, reference }): TaskHost => ({
      id: host_id,
      display_name,
      outcome,
      reason,
      reference,
    }),
  );
  return { hosts, meta, count: await ctx.store.taskHosts.count(where) };
}

const defaultOrder: readonly OrderTerm[] = [{ column: "host_id", direction: "asc" }];

/** The id of a host is another column than that of its row. */
const orderBy = (key: string, direction: OrderTerm["direction"]): OrderTerm | undefined =>
  key === "id" ? { column: "host_id", direction } : undefined;
