// What came of an action on many hosts, as a notice, with a way back as long as there is one.
import { operationsApi } from "../../../../api/hosts/operations.ts";
import { selectionHeaders, selectionOf } from "../../../../api/hosts/selection-digest.ts";
import type { BulkOutcome } from "../../../../api/inventory/bulk-actions.ts";
import { tasksApi } from "../../../../api/platform/tasks.ts";
import { client, request } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { counted, formatted } from "../../../parts/counted.ts";
import { maySomewhere } from "../../../session.ts";

interface Report {
  /** The hosts: the name of a single one, or their number. */
  readonly name: string;
  readonly done: (hosts: string) => string;
  readonly canUndo: boolean;
  readonly onUndone: () => void;
}

export function reportBulk(outcome: BulkOutcome, report: Report): void {
  const { approval, task_id: taskId, count, done, skipped } = outcome;
  if (approval !== undefined) {
    const link = { text: `Request ${approval.id}`, href: "/changes" };
    notifyDone("Another user has to approve it first.", { link });
    return;
  }
  const hosts = done === 1 && count === 1 ? report.name : counted(done, "host");
  const leftOut = skipped === 0 ? "" : ` ${counted(skipped, "host")} left out.`;
  const text =
    done + skipped < count
      ? `${formatted(done + skipped)} of ${counted(count, "host")} so far: a task goes on with the others.`
      : report.done(hosts) + leftOut;
  if (taskId === null) {
    notifyDone(text);
    return;
  }
  const link = { text: `Task ${taskId}`, href: `/changes?tab=tasks&panel=${taskId}` };
  const isUndoable = report.canUndo && maySomewhere("hosts:cancel_activity");
  notifyDone(text, { link, ...(isUndoable ? { undo: () => undo(taskId, outcome, report.onUndone) } : {}) });
}

async function undo(taskId: number, { count, done, skipped }: BulkOutcome, onUndone: () => void): Promise<string> {
  const text = await request(async () => {
    const isUnderWay = done + skipped < count;
    if (isUnderWay) await client.call(tasksApi.cancel, { params: { id: String(taskId) } });
    const { cancelled, others } = await cancelOperationsOf(taskId);
    const rest = others === 0 ? "" : ` It is too late for ${counted(others, "host")}.`;
    return `Cancelled on ${counted(cancelled, "host")}.${rest}`;
  });
  onUndone();
  return text;
}

const PAGE_SIZE = 1000;

/** Cancels what a task has queued for hosts and they have not begun. Returns for how many, and for how many not. */
async function cancelOperationsOf(taskId: number): Promise<{ cancelled: number; others: number }> {
  let [cancelled, total] = [0, 0];
  const batches: number[][] = [];
  for (let page = 0; ; page++) {
    const query = { task_id: taskId, page, per_page: PAGE_SIZE, order_key: "id" } as const;
    const { operations, meta } = await client.call(operationsApi.list, { query });
    total += operations.length;
    batches.push(operations.flatMap(({ id, can_cancel }) => (can_cancel ? id : [])));
    if (!meta.has_next_results) break;
  }
  for (const ids of batches.filter(({ length }) => length > 0)) {
    const { count, digest } = await selectionOf(ids);
    const headers = { [selectionHeaders.count]: String(count), [selectionHeaders.digest]: digest };
    cancelled += (await client.call(operationsApi.cancel, { body: { ids } }, { headers })).cancelled.length;
  }
  return { cancelled, others: total - cancelled };
}
