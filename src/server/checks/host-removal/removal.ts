// Removes hosts, with what counts them: each batch is a transaction of its own.
import { moveSoftwareCounts } from "../../hosts/count-changes/software.ts";
import { lockHosts, removeHosts } from "../../hosts/hosts/write.ts";
import { recordActivities } from "../../platform/activities/record.ts";
import type { ActivityTypes } from "../../platform/activities/types.ts";
import { type Context, within } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { forgetRuns } from "../../platform/policy-runs/record.ts";
import { and, oneOf, type Predicate } from "../../platform/store/query.ts";
import { forgetResults } from "../policies/results.ts";

/** Hosts per transaction: few enough that other requests do not wait long. */
export const BATCH_SIZE = 60;

export type RemovalReason = Pick<ActivityTypes["deleted_host"], "triggered_by" | "host_expiry_window">;

/** In the caller's transaction, which has locked the hosts: they are counted no more, and their rows are deleted. */
export async function removeWithCounts(store: ServerTx, hostIds: readonly number[]): Promise<void> {
  await forgetResults(store, hostIds);
  await forgetRuns(store, hostIds);
  await moveSoftwareCounts(store, hostIds, "deleted");
  await removeHosts(store, hostIds);
}

/** Deletes the hosts that still satisfy `where`, until the signal aborts. Returns the number of deleted hosts. */
export async function deleteInBatches(
  ctx: Context,
  ids: readonly number[],
  where: Predicate,
  reason: RemovalReason,
  signal: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (let at = 0; at < ids.length && !signal.aborted; at += BATCH_SIZE)
    deleted += await deleteBatch(ctx, ids.slice(at, at + BATCH_SIZE), where, reason);
  return deleted;
}

/** Deletes one batch in one transaction. */
export async function deleteBatch(
  ctx: Context,
  ids: readonly number[],
  where: Predicate,
  reason: RemovalReason,
): Promise<number> {
  return ctx.store.tx(async (store) => {
    const which = and(oneOf("id", ids), where);
    // Results of these hosts that are being stored now are waited for, so the counts that are subtracted next are
    // complete. Another request may be deleting the same hosts.
    await lockHosts(within(ctx, store), which);
    const hosts = await store.hosts.pick(["id", "display_name", "hardware_serial", "team_id"], { where: which });
    if (hosts.length === 0) return 0;
    const gone = hosts.map(({ id }) => id);
    await removeWithCounts(store, gone);
    await recordActivities(
      within(ctx, store),
      "deleted_host",
      hosts.map((host) => ({
        host_id: host.id,
        host_display_name: host.display_name,
        host_serial: host.hardware_serial,
        ...reason,
      })),
      { formerTeams: new Map(hosts.map(({ id, team_id }) => [id, team_id])) },
    );
    return gone.length;
  });
}
