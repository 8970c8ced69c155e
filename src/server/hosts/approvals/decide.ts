// Approves and denies requests. An approved action runs as the requester, if that user may still do it to exactly
// these hosts.

import type { Action } from "../../../api/access.ts";
import type { Approval } from "../../../api/hosts/approvals.ts";
import type { WindowsWipeType } from "../../../api/hosts/host-actions.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, conflict, forbiddenFor, notFound } from "../../platform/core/errors.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt } from "../../platform/store/query.ts";
import { contextOf, REQUESTER_GONE } from "../../platform/tasks/requester.ts";
import { type HostRow, hostFor } from "../hosts/access.ts";
import type { ExpectedSelection } from "../hosts/selection.ts";
import { spend } from "./budget.ts";
import { aboutApproval } from "./request.ts";
import type { ApprovalAction, ApprovalSelection } from "./tables.ts";
import { type ApprovalRow, permissions, shownRow, stateOf, viewOf } from "./view.ts";

/** Serializes changes of one request. */
const approvalLock = (id: number) => ({ lock: `approval-${id}` as const });

/** A request that is carried out by a task. */
export interface ManyHosts {
  readonly id: number;
  readonly action: Exclude<ApprovalAction, "wipe_host">;
  readonly selection: ApprovalSelection;
}

/** What approvals are asked for. */
export interface ApprovedActs {
  /** The ids of the hosts, if they are the expected ones and the caller may do this to all of them. */
  hosts(ctx: Context, action: Action, selection: ApprovalSelection, expected: ExpectedSelection): Promise<number[]>;
  wipe(ctx: Context, host: HostRow, wipeType?: WindowsWipeType): Promise<unknown>;
  /**
   * Deletes or wipes many hosts in the name of the requester. `beside` runs in the transaction that makes the task.
   * Returns when the task has ended, or after some seconds; the task then goes on.
   */
  many(
    requester: Context,
    approval: ManyHosts,
    ids: readonly number[],
    beside: (store: ServerTx, taskId: number) => Promise<void>,
  ): Promise<void>;
}

/** The updated request. `goesOn` is true if the action takes longer than this call. */
export async function approve(
  ctx: Context,
  id: number,
  acts: ApprovedActs,
): Promise<{ approval: Approval; goesOn: boolean }> {
  const row = await shownRow(ctx, id);
  refuseOwn(ctx, row);
  refuseDecided(ctx, row);
  const requester = (await contextOf(ctx, row.requested_by)) ?? (await endVoid(ctx, row, REQUESTER_GONE));
  const ids = await hostsAsSeen(ctx, requester, row, acts);
  const { action } = row;
  const [only] = ids;
  if (action === "wipe_host") await wipeApproved(ctx, requester, row, { acts, hostId: only! });
  else {
    const selection = (await ctx.store.approvalChoices.get(id))?.asked ?? {};
    await acts.many(requester, { id, action, selection }, ids, async (tx, task_id) => {
      await grant(within(ctx, tx), id, { state: "approved", task_id });
      await spend(within(requester, tx), action === "wipe_hosts" ? "wipe" : "delete", ids.length);
    });
  }
  const after = (await ctx.store.approvals.get(id))!;
  return { approval: await viewOf(ctx, after), goesOn: after.state === "approved" };
}

/** Allowed for users who may decide, and for the requester. */
export async function deny(ctx: Context, id: number, reason: string): Promise<Approval> {
  const row = await shownRow(ctx, id);
  refuseDecided(ctx, row);
  if (row.requested_by !== ctx.user.id && !(await viewOf(ctx, row)).may_decide) throw mayNot();
  return ctx.store.tx(async (tx) => {
    const inside = within(ctx, tx);
    const set = { state: "denied", reason, finished_at: ctx.clock.iso() } as const;
    const denied = await recordDecision(inside, id, set);
    await recordActivity(inside, "denied_approval", { ...aboutDecision(denied), reason });
    return viewOf(inside, denied);
  }, approvalLock(id));
}

/** The hosts, if they are still those that were shown and both users may act on all of them. */
async function hostsAsSeen(ctx: Context, requester: Context, row: ApprovalRow, acts: ApprovedActs): Promise<number[]> {
  const permission = permissions[row.action];
  if (!maySomewhere(requester.user, permission))
    return endVoid(ctx, row, "the user who asked for it may no longer do it");
  const expected = { count: row.hosts_count, digest: row.digest };
  let ids: number[];
  try {
    const choice = await ctx.store.approvalChoices.get(row.id);
    ids = await acts.hosts(requester, permission, choice?.asked ?? { ids: [] }, expected);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const why = error.errors[0]?.reason ?? error.message;
    return endVoid(ctx, row, error.status === 403 ? "the user who asked for it may no longer do it" : why);
  }
  try {
    await acts.hosts(ctx, permission, { ids }, {});
  } catch (error) {
    // Another user may have approved it in the meantime, so that the hosts are gone.
    refuseDecided(ctx, (await ctx.store.approvals.get(row.id)) ?? row);
    throw error;
  }
  return ids;
}

/** Approves and starts the wipe in a single transaction. */
async function wipeApproved(
  ctx: Context,
  requester: Context,
  row: ApprovalRow,
  { acts, hostId }: { readonly acts: ApprovedActs; readonly hostId: number },
): Promise<void> {
  const host = await hostFor(requester, "hosts:lock", hostId);
  const set = { state: "done", finished_at: ctx.clock.iso() } as const;
  await ctx.store.tx(async (tx) => {
    const choice = await tx.approvalChoices.get(row.id);
    await grant(within(ctx, tx), row.id, set);
    await acts.wipe(within(requester, tx), host, choice?.asked.wipe_type);
  }, approvalLock(row.id));
}

/** Changes a request that was approved and is not done, as given by `set`. */
export async function changeApproved(store: ServerTx, id: number, set: Partial<ApprovalRow>): Promise<void> {
  await store.approvals.update({ where: and(eq("id", id), eq("state", "approved")), set });
}

/** Changes a pending request once, as given by `set`, in the caller's transaction. */
async function grant(inside: Context, id: number, set: Partial<ApprovalRow>): Promise<void> {
  const granted = await recordDecision(inside, id, set);
  await recordActivity(inside, "granted_approval", aboutDecision(granted));
}

/** Records the caller's decision, unless another user decided first. */
async function recordDecision(ctx: Context, id: number, set: Partial<ApprovalRow>): Promise<ApprovalRow> {
  const { store, user, clock } = ctx;
  const caller = { decided_by: user.id, decider_name: user.name, decider_email: user.email, decided_at: clock.iso() };
  const open = and(eq("id", id), eq("state", "pending"), gt("expires_at", clock.iso()));
  const settled = await store.approvals.update({ where: open, set: { ...set, ...caller } });
  const row = await store.approvals.get(id);
  if (!row) throw notFound("approval", id);
  if (settled === 0) refuseDecided(ctx, row);
  return row;
}

const aboutDecision = (row: ApprovalRow) => ({
  ...aboutApproval(row),
  user_id: row.requested_by ?? 0,
  user_name: row.requester_name,
  user_email: row.requester_email,
});

const mayNot = () => forbiddenFor("this takes the right to do it to all of these hosts");

function refuseOwn({ user }: Context, { requested_by }: ApprovalRow): void {
  if (requested_by === user.id) throw forbiddenFor("you requested this yourself: another user must approve it");
}

const ended: Partial<Record<ApprovalRow["state"], string>> = {
  approved: "was approved already",
  denied: "was denied",
  expired: "has expired: it has to be asked for again",
  done: "was approved already, and done",
  failed: "came to nothing",
};

function refuseDecided(ctx: Context, row: ApprovalRow): void {
  const state = ended[stateOf(ctx, row)];
  if (state === undefined) return;
  throw conflict(`approval ${row.id} ${state}${row.error === "" ? "" : `: ${row.error}`}`);
}

/** Ends a request that can no longer be carried out, with the reason. */
async function endVoid(ctx: Context, { id }: ApprovalRow, error: string): Promise<never> {
  const pending = and(eq("id", id), eq("state", "pending"));
  await ctx.store.approvals.update({
    where: pending,
    set: { state: "failed", error, finished_at: ctx.clock.iso() },
  });
  throw conflict(`approval ${id} is void: ${error}`);
}
