// Deletes one host, or any number of hosts in batches. Each batch is a transaction of its own.
import type { Approval } from "../../../api/hosts/approvals.ts";
import { BATCH_SIZE, deleteBatch, type RemovalReason } from "../../checks/host-removal/removal.ts";
import { spend } from "../../hosts/approvals/budget.ts";
import { needsApproval, requestApproval } from "../../hosts/approvals/request.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { checkSelection, expectedSelection } from "../../hosts/hosts/selection.ts";
import { seconds } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { forbidden } from "../../platform/core/errors.ts";
import { maySomewhere, visible } from "../../platform/core/security/access.ts";
import { type StartedTask, startTask } from "../../platform/tasks/queue.ts";
import type { RunningTask, TaskKind } from "../../platform/tasks/task.ts";
import { type Choice, chosenIds } from "./chosen.ts";

/** A bulk delete that takes longer is answered and continues as a task, because clients time out after 30 seconds. */
const TIME_LIMIT = seconds(20);

const byHand: RemovalReason = { triggered_by: "manual" };

/** The result of a delete: all hosts are deleted, a task deletes the rest, or another user must approve it first. */
export type Deletion = StartedTask | { readonly outcome: "asked"; readonly approval: Approval };

/** Deletes hosts in the order of their ids, in the name of a user. */
export const hostDeletion: TaskKind<{ readonly ids: readonly number[] }> = {
  name: "delete_hosts",
  run: (ctx, task) => deleteInSteps(ctx, task.payload.ids, task),
};

/** The steps of a task that deletes these hosts, as far as the user may still delete them. */
export async function deleteInSteps(
  ctx: Context,
  ids: readonly number[],
  task: Pick<RunningTask<unknown>, "progress" | "step">,
): Promise<void> {
  // The user may have lost the role since the request.
  if (!maySomewhere(ctx.user, "hosts:delete")) throw forbidden();
  const allowed = visible(ctx, "hosts:delete");
  for (let at = task.progress; at < ids.length; at += BATCH_SIZE) {
    const next = Math.min(at + BATCH_SIZE, ids.length);
    await task.step(next, (store) => deleteBatch(within(ctx, store), ids.slice(at, next), allowed, byHand));
  }
}

export async function deleteHost(ctx: Context, id: number): Promise<Deletion> {
  const expected = expectedSelection(ctx);
  await hostFor(ctx, "hosts:delete", id);
  await checkSelection(expected, [id]);
  if (needsApproval(ctx, "delete_hosts", 1))
    return { outcome: "asked", approval: await requestApproval(ctx, "delete_hosts", { ids: [id] }, [id]) };
  await spend(ctx, "delete", 1);
  await deleteBatch(ctx, [id], visible(ctx, "hosts:delete"), byHand);
  return { outcome: "done" };
}

export async function deleteManyHosts(ctx: Context, body: Choice, limitMs: number = TIME_LIMIT): Promise<Deletion> {
  const ids = await chosenIds(ctx, "hosts:delete", body);
  if (needsApproval(ctx, "delete_hosts", ids.length)) {
    const selection = body.filters === undefined ? { ids } : { filters: body.filters };
    return { outcome: "asked", approval: await requestApproval(ctx, "delete_hosts", selection, ids) };
  }
  if (ids.length <= BATCH_SIZE) {
    await spend(ctx, "delete", ids.length);
    await deleteBatch(ctx, ids, visible(ctx, "hosts:delete"), byHand);
    return { outcome: "done" };
  }
  const work = { payload: { ids }, total: ids.length };
  return startTask(ctx, hostDeletion, work, limitMs, (store) => spend(within(ctx, store), "delete", ids.length));
}
