// Approved deletes: a task in the name of the requester.

import { approvalLock, changeApproved } from "../../hosts/approvals/decide.ts";
import type { ApprovalRow } from "../../hosts/approvals/view.ts";
import { seconds } from "../../platform/core/clock.ts";
import { type Context, type Services, serviceContext, within } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull } from "../../platform/store/query.ts";
import { addTask, startTask } from "../../platform/tasks/queue.ts";
import { contextOf, REQUESTER_GONE } from "../../platform/tasks/requester.ts";
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

/** Creates the tasks of deletes that an earlier version of the server, which had no tasks, has left unfinished. */
export async function adoptRuns(services: Services): Promise<number> {
  const { store, clock } = services;
  const left = and(eq("state", "approved"), isNull("task_id"));
  let adopted = 0;
  for (const { id, requested_by } of await store.approvals.pick(["id", "requested_by"], { where: left })) {
    const requester = await contextOf(serviceContext(services), requested_by);
    const failed = { state: "failed", finished_at: clock.iso(), error: REQUESTER_GONE } as const;
    await store.tx(async (tx) => {
      const still = and(eq("id", id), left);
      if ((await tx.approvals.count(still)) === 0) return;
      if (!requester) {
        await changeApproved(tx, id, failed);
        return;
      }
      const ids = (await tx.approvalChoices.get(id))?.asked.ids ?? [];
      const work = { payload: { approval_id: id, ids }, total: ids.length };
      const task_id = await addTask(within(requester, tx), approvedDeletion, work);
      await changeApproved(tx, id, { task_id });
      adopted++;
    }, approvalLock(id));
  }
  return adopted;
}
