// Carries out one task whose lease this server holds.
import { messageOf } from "../../../text/error-message.ts";
import { isoAt, minutes, seconds } from "../core/clock.ts";
import { heldBy, LEASE, type Lease, LeaseLost, noLease, whileHeld } from "../core/concurrency/lease.ts";
import { type Context, within } from "../core/context.ts";
import { ApiError } from "../core/errors.ts";
import type { ServerTx } from "../core/tables.ts";
import { and, eq, type Predicate } from "../store/query.ts";
import { asService, hasSameRoles, requesterOf } from "./requester.ts";
import type { TaskKind, TaskOutcome } from "./task.ts";
import type { TaskRow } from "./view.ts";

/** After this many failed attempts the task has failed. With the pauses between them this takes about an hour. */
const MAX_ATTEMPTS = 20;
export const PAUSE_MAX = minutes(5);

/** The server is stopping. */
class TaskStopped extends Error {}

/** The requester has other roles now: the task goes on with these. */
class RolesChanged extends Error {}

/** What came of it: it has ended, or it goes on later, perhaps on another server. */
type AttemptResult = (TaskOutcome & { readonly cause?: unknown }) | { readonly state: "later" };

/** Rejects only if the store cannot record what happened; the lease then expires, and the task is tried again. */
export const carryOut = (
  ctx: Context,
  kind: TaskKind<unknown>,
  row: TaskRow & Lease,
  stop: AbortSignal,
): Promise<AttemptResult> => new Attempt(ctx, kind, row, stop).run();

class Attempt {
  readonly #inside: Context;
  readonly #kind: TaskKind<unknown>;
  readonly #row: TaskRow & Lease;
  readonly #stop: AbortSignal;
  readonly #mine: Predicate;
  #payload: unknown;

  constructor(ctx: Context, kind: TaskKind<unknown>, row: TaskRow & Lease, stop: AbortSignal) {
    this.#inside = asService(ctx, row);
    this.#kind = kind;
    this.#row = row;
    this.#stop = stop;
    this.#mine = and(eq("id", row.id), eq("state", "running"), heldBy(row));
  }

  async run(): Promise<AttemptResult> {
    const { store } = this.#inside;
    this.#payload = (await store.taskPayloads.get(this.#row.id))?.payload;
    try {
      const renew = (set: Partial<TaskRow>) => store.tasks.update({ where: this.#mine, set });
      return await whileHeld(this.#inside, renew, this.#stop, (signal) => this.#work(signal));
    } catch (error) {
      return this.#recordError(error);
    }
  }

  async #work(signal: AbortSignal): Promise<TaskOutcome> {
    const requester = await requesterOf(this.#inside, this.#row);
    await this.#kind.run(requester, {
      id: this.#row.id,
      payload: this.#payload,
      progress: this.#row.progress,
      signal,
      step: async (progress, work) => {
        if (signal.aborted) throw this.#stop.aborted ? new TaskStopped() : new LeaseLost();
        return this.#step(requester, progress, work);
      },
    });
    return this.#end({ state: "done", error: "" });
  }

  #step<R>(requester: Context, progress: number, work: (tx: ServerTx) => Promise<R>): Promise<R> {
    const { store, clock } = this.#inside;
    const mayGoOn = and(this.#mine, eq("cancel_requested", false));
    return store.tx(async (tx) => {
      await this.#update(tx, { progress, runner_until: isoAt(clock.now() + LEASE) }, mayGoOn);
      if (!hasSameRoles(requester, await requesterOf(within(this.#inside, tx), this.#row))) throw new RolesChanged();
      return work(tx);
    });
  }

  async #end(outcome: TaskOutcome): Promise<TaskOutcome> {
    const { store, clock } = this.#inside;
    await store.tx(async (tx) => {
      await this.#update(tx, { ...outcome, finished_at: clock.iso(), retry_at: null, ...noLease });
      await tx.taskPayloads.delete(eq("id", this.#row.id));
      await this.#kind.ended?.(within(this.#inside, tx), this.#payload, outcome);
    });
    return outcome;
  }

  async #recordError(error: unknown): Promise<AttemptResult> {
    const { store } = this.#inside;
    if (error instanceof TaskStopped || error instanceof RolesChanged) {
      await store.tasks.update({ where: this.#mine, set: noLease });
      return { state: "later" };
    }
    if (error instanceof LeaseLost) {
      const isCancelled = (await store.tasks.count(and(this.#mine, eq("cancel_requested", true)))) > 0;
      return isCancelled ? this.#end({ state: "cancelled", error: "" }) : { state: "later" };
    }
    return this.#recordFailure(error);
  }

  async #recordFailure(error: unknown): Promise<AttemptResult> {
    const { store, clock, log } = this.#inside;
    const attempts = this.#row.attempts + 1;
    const about = { err: error, task: this.#row.id, kind: this.#kind.name, attempts };
    if (isFinal(error) || attempts >= MAX_ATTEMPTS) {
      log.warn(about, "task failed");
      return { ...(await this.#end({ state: "failed", error: failureText(error) })), cause: error };
    }
    log.warn(about, "an attempt at a task failed; it will be repeated");
    const pause = Math.min(PAUSE_MAX, seconds(2 ** attempts));
    const set = { attempts, retry_at: isoAt(clock.now() + pause), error: failureText(error), ...noLease };
    await store.tasks.update({ where: this.#mine, set });
    return { state: "later" };
  }

  async #update(tx: ServerTx, set: Partial<TaskRow>, where = this.#mine): Promise<void> {
    if ((await tx.tasks.update({ where, set })) === 0) throw new LeaseLost();
  }
}

/** Repeating it would not help. */
const isFinal = (error: unknown): boolean => error instanceof ApiError && error.status < 500;

function failureText(error: unknown): string {
  const reason = error instanceof ApiError ? error.errors[0]?.reason : undefined;
  return (reason ?? messageOf(error)).slice(0, 1000);
}
