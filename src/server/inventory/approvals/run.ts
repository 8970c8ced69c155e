// What was approved for many hosts: a task in the name of the requester.

import { changeApproved, type ManyHosts } from "../../hosts/approvals/decide.ts";
import { seconds } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { startTask } from "../../platform/tasks/queue.ts";
import type { TaskKind, TaskOutcome } from "../../platform/tasks/task.ts";
import { type WipeOptions, wipeHosts } from "../bulk-actions/kinds.ts";
import { type BulkWork, runOnHosts } from "../bulk-actions/run.ts";
import { deleteInSteps } from "../host-list/delete.ts";

/** The maximum time that a caller waits for the end. Clients time out after 30 seconds. */
const TIME_LIMIT = seconds(10);

interface ApprovedWork {
  readonly approval_id: number;
}

async function endApproved(
  { store, clock }: Context,
  { approval_id }: ApprovedWork,
  { state, error }: TaskOutcome,
): Promise<void> {
  const set = { state: state === "done" ? "done" : "failed", finished_at: clock.iso() } as const;
  await changeApproved(store, approval_id, { ...set, error: state === "cancelled" ? "it was cancelled" : error });
}

export const approvedDeletion: TaskKind<ApprovedWork & { readonly ids: readonly number[] }> = {
  name: "delete_hosts_approved",
  run: (ctx, task) => deleteInSteps(ctx, task.payload.ids, task),
  ended: endApproved,
};

export const approvedWipes: TaskKind<ApprovedWork & BulkWork<WipeOptions>> = {
  name: "wipe_hosts_approved",
  run: (ctx, task) => runOnHosts(ctx, wipeHosts, task),
  ended: endApproved,
};

export async function runApproved(
  requester: Context,
  { id: approval_id, action, selection }: ManyHosts,
  ids: readonly number[],
  beside: (store: ServerTx, taskId: number) => Promise<void>,
): Promise<void> {
  const total = ids.length;
  if (action === "delete_hosts") {
    await startTask(requester, approvedDeletion, { payload: { approval_id, ids }, total }, TIME_LIMIT, beside);
    return;
  }
  const { wipe_type: wipeType, reason } = selection;
  const options = { ...(wipeType && { wipeType }), ...(reason && { reason }) };
  await startTask(requester, approvedWipes, { payload: { approval_id, ids, options }, total }, TIME_LIMIT, beside);
}
