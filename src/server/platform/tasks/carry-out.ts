// Carries out one task whose lease this server holds.
import { messageOf } from "../../../text/error-message.ts";
import { isoAt, minutes, seconds } from "../core/clock.ts";
import { heldBy, LEASE, type Lease, LeaseLost, noLease, whileHeld } from "../core/concurrency/lease.ts";
import { type Context, within } from "../core/context.ts";
import { ApiError } from "../core/errors.ts";
import type { ServerTx } from "../core/tables.ts";
import { and, eq } from "../store/query.ts";
import { asService, hasSameRoles, requesterOf } from "./requester.ts";
import type { TaskKind, TaskOutcome } from "./task.ts";
import type { TaskRow } from "./view.ts";

/** After this many failed attempts the task has failed. With the pauses between them this takes about an hour. */
const ATTEMPTS = 20;
export const PAUSE_MAX = minutes(5);

/** The server is stopping. */
class TaskStopped extends Error {}

/** The requester has other roles now: the task goes on with these. */
class RolesChanged extends Error {}

/** What came of it: it has ended, or it goes on later, perhaps on another server. */
type Result = (TaskOutcome & { readonly cause?: unknown }) | { readonly state: "later" };

/** Rejects only if the store cannot record what happened; the lease then expires, and the task is tried again. */
export async function carryOut(
  ctx: Context,
  kind: TaskKind<unknown>,
  row: TaskRow & Lease,
  stop: AbortSignal,
): Promise<Result> {
  const inside = asService(ctx, row);
  const { store, clock, log } = inside;
  const mine = and(eq("id", row.id), eq("state", "running"), heldBy(row));
  const payload = (await store.taskPayloads.get(row.id))?.payload;

  async function end(outcome: TaskOutcome): Promise<TaskOutcome> {
    await store.tx(async (tx) => {
      await hold(tx, { ...outcome, finished_at: clock.iso(), retry_at: null, ...noLease });
      await tx.taskPayloads.delete(eq("id", row.id));
      await kind.ended?.(within(inside, tx), payload, outcome);
    });
    return outcome;
  }
  async function hold(tx: ServerTx, set: Partial<TaskRow>, where = mine): Promise<void> {
    if ((await tx.tasks.update({ where, set })) === 0) throw new LeaseLost();
  }
  const mayGoOn = and(mine, eq("cancel_requested", false));

  try {
    return await whileHeld(
      inside,
      (set) => store.tasks.update({ where: mine, set }),
      stop,
      async (signal) => {
        const requester = await requesterOf(inside, row);
        await kind.run(requester, {
          payload,
          progress: row.progress,
          signal,
          async step(progress, work) {
            if (signal.aborted) throw stop.aborted ? new TaskStopped() : new LeaseLost();
            return store.tx(async (tx) => {
              await hold(tx, { progress, runner_until: isoAt(clock.now() + LEASE) }, mayGoOn);
              if (!hasSameRoles(requester, await requesterOf(within(inside, tx), row))) throw new RolesChanged();
              return work(tx);
            });
          },
        });
        return end({ state: "done", error: "" });
      },
    );
  } catch (error) {
    if (error instanceof TaskStopped || error instanceof RolesChanged) {
      await store.tasks.update({ where: mine, set: noLease });
      return { state: "later" };
    }
    if (error instanceof LeaseLost) {
      const isCancelled = (await store.tasks.count(and(mine, eq("cancel_requested", true)))) > 0;
      return isCancelled ? end({ state: "cancelled", error: "" }) : { state: "later" };
    }
    const attempts = row.attempts + 1;
    const about = { err: error, task: row.id, kind: kind.name, attempts };
    if (isFinal(error) || attempts >= ATTEMPTS) {
      log.warn(about, "task failed");
      return { ...(await end({ state: "failed", error: failureText(error) })), cause: error };
    }
    log.warn(about, "an attempt at a task failed; it will be repeated");
    const pause = Math.min(PAUSE_MAX, seconds(2 ** attempts));
    const set = { attempts, retry_at: isoAt(clock.now() + pause), error: failureText(error), ...noLease };
    await store.tasks.update({ where: mine, set });
    return { state: "later" };
  }
}

/** Repeating it would not help. */
const isFinal = (error: unknown): boolean => error instanceof ApiError && error.status < 500;

function failureText(error: unknown): string {
  const reason = error instanceof ApiError ? error.errors[0]?.reason : undefined;
  return (reason ?? messageOf(error)).slice(0, 1000);
}
