// Approved deletes: a task in the name of the requester.

import { changeApproved } from "../../hosts/approvals/decide.ts";
import type { ApprovalRow } from "../../hosts/approvals/view.ts";
import { seconds } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { startTask } from "../../platform/tasks/queue.ts";
import type { TaskKind } from "../../platform/tasks/task.ts";
import { deleteInSteps } from "../host-list/delete.ts";

/** The maximum time that a caller waits for the end. Clients time out after 30 seconds. */
const TIME_LIMIT = seconds(10);

interface ApprovedHosts {
  readonly approval_id: number;
  readonly ids: readonly number[];
}

export const approvedDeletion: TaskKind<ApprovedHosts> = {
  name: "delete_hosts_approved",
  run: (ctx, task) => deleteInSteps(ctx, task.payload.ids, task),
  async ended({ store, clock }, { approval_id }, { state, error }) {
    const set = { state: state === "done" ? "done" : "failed", finished_at: clock.iso() } as const;
    await changeApproved(store, approval_id, { ...set, error: state === "cancelled" ? "it was cancelled" : error });
  },
};

export async function runDelete(
  requester: Context,
  { id }: Pick<ApprovalRow, "id">,
  ids: readonly number[],
  beside: (store: ServerTx, taskId: number) => Promise<void>,
): Promise<void> {
  const work = { payload: { approval_id: id, ids }, total: ids.length };
  await startTask(requester, approvedDeletion, work, TIME_LIMIT, beside);
}
