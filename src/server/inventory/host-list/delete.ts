// Deletes one host, or any number of hosts in batches. Each batch is a transaction of its own.
import type { Approval } from "../../../api/hosts/approvals.ts";
import { forgetResults } from "../../checks/policies/results.ts";
import { spend } from "../../hosts/approvals/budget.ts";
import { needsApproval, requestApproval } from "../../hosts/approvals/request.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { checkSelection, expectedSelection } from "../../hosts/hosts/selection.ts";
import { lockHosts, removeHosts } from "../../hosts/hosts/write.ts";
import { recordActivities } from "../../platform/activities/record.ts";
import type { ActivityTypes } from "../../platform/activities/types.ts";
import { seconds } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { forbidden } from "../../platform/core/errors.ts";
import { maySomewhere, visible } from "../../platform/core/security/access.ts";
import { and, oneOf, type Predicate } from "../../platform/store/query.ts";
import { type Begun, startTask } from "../../platform/tasks/queue.ts";
import type { RunningTask, TaskKind } from "../../platform/tasks/task.ts";
import { moveSoftwareCounts } from "../../software/software/count-changes.ts";
import { type Choice, chosenIds } from "./chosen.ts";

/** Hosts per transaction: few enough that other requests do not wait long. */
const BATCH = 60;
/** A bulk delete that takes longer is answered and continues as a task, because clients time out after 30 seconds. */
const TIME_LIMIT = seconds(20);

type Reason = Pick<ActivityTypes["deleted_host"], "triggered_by" | "host_expiry_window">;
const byHand: Reason = { triggered_by: "manual" };

/** The result of a delete: all hosts are deleted, a task deletes the rest, or another user must approve it first. */
export type Deletion = Begun | { readonly outcome: "asked"; readonly approval: Approval };

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
  for (let at = task.progress; at < ids.length; at += BATCH) {
    const next = Math.min(at + BATCH, ids.length);
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
    const asked = body.filters === undefined ? { ids } : { filters: body.filters };
    return { outcome: "asked", approval: await requestApproval(ctx, "delete_hosts", asked, ids) };
  }
  if (ids.length <= BATCH) {
    await spend(ctx, "delete", ids.length);
    await deleteBatch(ctx, ids, visible(ctx, "hosts:delete"), byHand);
    return { outcome: "done" };
  }
  const work = { payload: { ids }, total: ids.length };
  return startTask(ctx, hostDeletion, work, limitMs, (store) => spend(within(ctx, store), "delete", ids.length));
}

/** Deletes the hosts that still satisfy `where`, until the signal aborts. Returns the number of deleted hosts. */
export async function deleteInBatches(
  ctx: Context,
  ids: readonly number[],
  where: Predicate,
  reason: Reason,
  signal: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (let at = 0; at < ids.length && !signal.aborted; at += BATCH)
    deleted += await deleteBatch(ctx, ids.slice(at, at + BATCH), where, reason);
  return deleted;
}

/** Deletes one batch in one transaction. */
export async function deleteBatch(
  ctx: Context,
  ids: readonly number[],
  where: Predicate,
  reason: Reason,
): Promise<number> {
  return ctx.store.tx(async (store) => {
    const which = and(oneOf("id", ids), where);
    // Results of these hosts that are being stored now are waited for, so the counts that are subtracted next are
    // complete. Another request may be deleting the same hosts.
    await lockHosts(within(ctx, store), which);
    const hosts = await store.hosts.pick(["id", "display_name", "hardware_serial"], { where: which });
    if (hosts.length === 0) return 0;
    const gone = hosts.map(({ id }) => id);
    await forgetResults(store, gone);
    await moveSoftwareCounts(store, gone, "deleted");
    await removeHosts(store, gone);
    await recordActivities(
      within(ctx, store),
      "deleted_host",
      hosts.map((host) => ({
        host_id: host.id,
        host_display_name: host.display_name,
        host_serial: host.hardware_serial,
        ...reason,
      })),
    );
    return gone.length;
  });
}
