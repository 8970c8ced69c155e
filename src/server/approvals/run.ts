// Runs approved deletes. They take many transactions, each of which records the progress and the runner. After a
// crash another server continues from there, and no host is processed twice.

import { isoAt, minutes, seconds } from "../core/clock.ts";
import { inBackground } from "../core/concurrency/background.ts";
import { type Context, type Services, serviceContext } from "../core/context.ts";
import { visible } from "../core/security/access.ts";
import type { ServerTx } from "../core/tables.ts";
import { BATCH, byHand, deleteBatch } from "../host-list/delete.ts";
import { viewerOf } from "../sessions/viewer.ts";
import { and, eq, lte } from "../store/query.ts";
import type { ApprovalRow } from "./view.ts";

/** A runner without a sign of life for this long is considered dead. Each batch renews the lease. */
const LEASE = minutes(1);

/** The maximum time that a caller waits for the end. Clients time out after 30 seconds. */
const TIME_LIMIT = seconds(10);

/** Another runner has taken over. */
class TakenOver extends Error {}

/** The columns that assign a new runner. */
export const newRunner = ({ random, clock }: Pick<Context, "random" | "clock">) => ({
  runner: random.uuid(),
  runner_until: isoAt(clock.now() + LEASE),
});

/** A context of the requester with its current roles. Null if the user was deleted or may not act. */
export async function asRequester(ctx: Context, row: Pick<ApprovalRow, "requested_by">): Promise<Context | null> {
  const user = row.requested_by === null ? null : await ctx.store.users.get(row.requested_by);
  if (!user || user.force_password_reset) return null;
  const { headers: _, ...rest } = ctx;
  // The approver's address must not be recorded for the requester.
  return { ...rest, user: await viewerOf(ctx.store, user, null), address: "" };
}

/** Whether the delete finished within the time limit of a request. Otherwise it continues in the background. */
export async function runDelete(ctx: Context, row: ApprovalRow): Promise<boolean> {
  const started = ctx.clock.now();
  const at = await deleteUntil(ctx, row, 0, () => ctx.clock.now() - started > TIME_LIMIT);
  if (at === null) return true;
  inBackground(ctx, "approved host delete", (signal) => runUntilStopped(ctx, row, at, signal));
  return false;
}

async function runUntilStopped(ctx: Context, row: ApprovalRow, from: number, signal: AbortSignal): Promise<void> {
  const at = await deleteUntil(ctx, row, from, () => signal.aborted);
  // Release the lease, so that the next runner can start immediately.
  if (at !== null)
    await ctx.store.approvals.update({ where: mine(row), set: { runner: "", runner_until: ctx.clock.iso() } });
}

const mine = ({ id, runner }: ApprovalRow) => and(eq("id", id), eq("state", "approved"), eq("runner", runner));

/** Returns the position at which it stopped. Null: at the end. */
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

/** Resumes approved deletes that are unfinished and whose runner is gone. */
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
