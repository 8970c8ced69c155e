// Chooses and authorizes the hosts of an action on many, and asks for approval where it is needed.
import type { z } from "zod";
import type { BulkOutcome, bulkActionsApi } from "../../../api/inventory/bulk-actions.ts";
import { spend } from "../../hosts/approvals/budget.ts";
import { needsApproval, requestApproval } from "../../hosts/approvals/request.ts";
import { manualLabels } from "../../hosts/labels/host-labels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import type { Reply } from "../../platform/core/http/route.ts";
import { chosenIds } from "../host-list/chosen.ts";
import { bulkTasks } from "./kinds.ts";
import { nothingDone } from "./outcome.ts";
import { actOnHosts, startOnHosts } from "./run.ts";

type Body<N extends keyof typeof bulkActionsApi> = z.output<(typeof bulkActionsApi)[N]["body"]>;

export const refetchMany = (ctx: Context, choice: Body<"refetch">, reply: Reply): Promise<BulkOutcome> =>
  actOnHosts(ctx, bulkTasks.refetch, { permission: "hosts:refetch", choice, options: {} }, reply);

export async function labelMany(
  ctx: Context,
  { add, remove, ...choice }: Body<"labels">,
  reply: Reply,
): Promise<BulkOutcome> {
  const joining = await manualLabels(ctx.store, add, "add");
  const leaving = await manualLabels(ctx.store, remove, "remove");
  if (joining.length + leaving.length === 0) throw invalid("add", "add or remove must name a label");
  const both = joining.find(({ id }) => leaving.some((label) => label.id === id));
  if (both) throw invalid("remove", `${JSON.stringify(both.name)} is also in add`);
  const idsOf = (labels: readonly { readonly id: number }[]) => labels.map(({ id }) => id);
  const options = { add: idsOf(joining), remove: idsOf(leaving) };
  return actOnHosts(ctx, bulkTasks.labels, { permission: "hosts:label", choice, options }, reply);
}

export const lockMany = (
  ctx: Context,
  action: "lock" | "unlock",
  { reason, ...choice }: Body<"lock">,
  reply: Reply,
): Promise<BulkOutcome> =>
  actOnHosts(ctx, bulkTasks[action], { permission: "hosts:lock", choice, options: reason ? { reason } : {} }, reply);

/** The hosts are wiped only as a whole selection: one approval and one charge for all of them. */
export async function wipeMany(
  ctx: Context,
  { reason, windows, ...choice }: Body<"wipe">,
  reply: Reply,
): Promise<BulkOutcome> {
  const ids = await chosenIds(ctx, "hosts:lock", choice);
  const wipeType = windows?.wipe_type;
  const options = { ...(wipeType && { wipeType }), ...(reason && { reason }) };
  if (!needsApproval(ctx, "wipe_hosts", ids.length) || ids.length === 0)
    return startOnHosts(ctx, bulkTasks.wipe, { ids, options }, reply, (store) =>
      spend(within(ctx, store), "wipe", ids.length),
    );
  // A dry run shows what the approved wipe would do.
  const outcome =
    ctx.dryRun === null
      ? { ...nothingDone, count: ids.length }
      : await startOnHosts(ctx, bulkTasks.wipe, { ids, options }, reply);
  reply.status = 202;
  const selection = {
    ...(choice.filters === undefined ? { ids } : { filters: choice.filters }),
    ...(wipeType && { wipe_type: wipeType }),
    ...(reason && { reason }),
  };
  return { ...outcome, approval: await requestApproval(ctx, "wipe_hosts", selection, ids) };
}
