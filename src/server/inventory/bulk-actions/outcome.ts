// What came of an action on many hosts, as far as its task has got.
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, type Predicate } from "../../platform/store/query.ts";

export const MAX_SHOWN_HOSTS = 10;
export const MAX_REASONS = 50;

export const nothingDone: BulkOutcome = {
  count: 0,
  done: 0,
  hosts: [],
  skipped: 0,
  skipped_reasons: [],
  task_id: null,
};

export async function outcomeOf(store: ServerTx, taskId: number, count: number): Promise<BulkOutcome> {
  const [isDone, isSkipped] = (["done", "skipped"] as const).map((outcome) =>
    and(eq("task_id", taskId), eq("outcome", outcome)),
  ) as [Predicate, Predicate];
  const reasons = await store.taskHosts.groupCount("reason", isSkipped);
  const skipped_reasons = [];
  for (const { value, count } of reasons.slice(0, MAX_REASONS)) {
    const reason = String(value);
    skipped_reasons.push({ reason, count, hosts: await firstHosts(store, and(isSkipped, eq("reason", reason))) });
  }
  return {
    count,
    done: await store.taskHosts.count(isDone),
    hosts: await firstHosts(store, isDone),
    skipped: reasons.reduce((sum, { count }) => sum + count, 0),
    skipped_reasons,
    task_id: taskId,
  };
}

async function firstHosts(store: ServerTx, where: Predicate) {
  const order = [{ column: "host_id", direction: "asc" }] as const;
  const rows = await store.taskHosts.pick(["host_id", "display_name"], { where, order, limit: MAX_SHOWN_HOSTS });
  return rows.map(({ host_id: id, display_name }) => ({ id, display_name }));
}
