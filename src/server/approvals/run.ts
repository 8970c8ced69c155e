// Carrying out deletes that were approved. They take many transactions, each of which says how far it got and who is at it: after a kill
// another server goes on from there, and no host is dealt with twice.

import { visible } from "../core/access.ts";
import { isoAt, minutes, seconds } from "../core/clock.ts";
import { type Context, type Services, serviceContext } from "../core/context.ts";
import { BATCH, byHand, deleteBatch } from "../hosts/delete.ts";
import { inBackground } from "../jobs/background.ts";
import { and, eq, lte } from "../store/query.ts";
import type { ServerTx } from "../tables.ts";
import { viewerOf } from "../users/viewer.ts";
import type { ApprovalRow } from "./view.ts";

/** A runner that was not heard of for so long is gone. Each batch says anew that it is there. */
const LEASE = minutes(1);

/** Longer than this nobody is kept waiting for the end: clients give up after half a minute. */
const TIME_LIMIT = seconds(10);

/** Another runner has it now. */
class TakenOver extends Error {}

/** Columns that put a new runner in charge. */
export const newRunner = ({ random, clock }: Pick<Context, "random" | "clock">) => ({
  runner: random.uuid(),
  runner_until: isoAt(clock.now() + LEASE),
});

/** As the user who asked, with the roles that are held now; null: the user is gone, or may not act. */
export async function asRequester(ctx: Context, row: Pick<ApprovalRow, "requested_by">): Promise<Context | null> {
  const user = row.requested_by === null ? null : await ctx.store.users.get(row.requested_by);
  if (!user || user.force_password_reset) return null;
  const { headers: _, ...rest } = ctx;
  // Not from where the approver calls.
  return { ...rest, user: await viewerOf(ctx.store, user, null), address: "" };
}

/** Whether it was finished within the time limit of a request; else it goes on in the background. */
export async function runDelete(ctx: Context, row: ApprovalRow): Promise<boolean> {
  const started = ctx.clock.now();
  const at = await deleteUntil(ctx, row, 0, () => ctx.clock.now() - started > TIME_LIMIT);
  if (at === null) return true;
  inBackground(ctx, "approved host delete", (signal) => runUntilStopped(ctx, row, at, signal));
  return false;
}

async function runUntilStopped(ctx: Context, row: ApprovalRow, from: number, signal: AbortSignal): Promise<void> {
  const at = await deleteUntil(ctx, row, from, () => signal.aborted);
  // Whoever runs next need not wait until the lease is over.
  if (at !== null)
    await ctx.store.approvals.update({ where: mine(row), set: { runner: "", runner_until: ctx.clock.iso() } });
}

const mine = ({ id, runner }: ApprovalRow) => and(eq("id", id), eq("state", "approved"), eq("runner", runner));

/** Gives where it stopped; null: at the end. */
async function deleteUntil(ctx: Context, row: ApprovalRow, from: number, stop: () => boolean): Promise<number | null> {
  const { clock } = ctx;
  const ids = (await ctx.store.approvalChoices.get(row.id))?.asked.ids ?? [];
  const allowed = visible(ctx, "hosts:delete");
  const hold = async (tx: ServerTx, set: Partial<ApprovalRow>) => {
    if ((await tx.approvals.update({ where: mine(row), set })) === 0) throw new TakenOver();
  };
  try {
    for (let at = from; at < ids.length; at += BATCH) {
      if (stop()) return at;
      await deleteBatch(ctx, ids.slice(at, at + BATCH), allowed, byHand, (tx) =>
        hold(tx, { progress: Math.min(at + BATCH, ids.length), runner_until: isoAt(clock.now() + LEASE) }),
      );
    }
    await hold(ctx.store, { state: "done", finished_at: clock.iso(), runner: "", runner_until: null });
  } catch (error) {
    if (!(error instanceof TakenOver)) throw error;
  }
  return null;
}

/** Goes on with what was approved and is not done, where nobody is at it any more. */
export async function resumeRuns(services: Services, signal: AbortSignal): Promise<number> {
  const { store, clock } = services;
  const left = and(eq("state", "approved"), lte("runner_until", clock.iso()));
  let resumed = 0;
  for (const { id } of await store.approvals.pick(["id"], { where: left })) {
    if (signal.aborted) break;
    const set = newRunner(services);
    if ((await store.approvals.update({ where: and(eq("id", id), left), set })) === 0) continue;
    const row = await store.approvals.get(id);
    if (!row) continue;
    const ctx = await asRequester(serviceContext(services), row);
    if (ctx) await runUntilStopped(ctx, row, row.progress, signal);
    else
      await store.approvals.update({
        where: mine(row),
        set: { state: "failed", finished_at: clock.iso(), error: GONE, runner: "", runner_until: null },
      });
    resumed++;
  }
  return resumed;
}

export const GONE = "the user who asked for it is gone, or has to change the password first";
