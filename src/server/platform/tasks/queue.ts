// Creates tasks, and runs them on this server right away if there is a request that waits for them.
import { channels } from "../core/channels.ts";
import { inBackground } from "../core/concurrency/background.ts";
import { type Lease, newLease } from "../core/concurrency/lease.ts";
import type { Context } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import { carryOut } from "./carry-out.ts";
import type { TaskKind } from "./task.ts";
import type { TaskRow } from "./view.ts";

interface Work<P> {
  readonly payload: P;
  /** Units of work. */
  readonly total: number;
}

/** Creates a task in the caller's transaction, and returns its id. A server starts it soon after the commit. */
export async function addTask<P>(ctx: Context, kind: TaskKind<P>, work: Work<P>): Promise<number> {
  const { id } = await insertTask(ctx, ctx.store, kind, work, null);
  return id;
}

async function insertTask<P>(
  { clock, user }: Context,
  store: ServerTx,
  kind: TaskKind<P>,
  { payload, total }: Work<P>,
  lease: Lease | null,
): Promise<TaskRow> {
  const isUser = user.kind === "user";
  const now = clock.iso();
  const row = {
    created_at: now,
    kind: kind.name,
    requested_by: isUser ? user.id : null,
    requester_name: isUser ? user.name : "",
    requester_email: isUser ? user.email : "",
    total,
    ...(lease === null ? {} : { state: "running" as const, started_at: now, ...lease }),
  };
  const task = await store.tasks.insert(row);
  await store.taskPayloads.insert({ id: task.id, payload });
  if (lease === null) await store.notify(channels.tasks, "");
  return task;
}

/** How a request's task stands when the request is answered. */
export type StartedTask = { readonly outcome: "done" } | { readonly outcome: "goes on"; readonly taskId: number };

/**
 * Creates a task, with `beside` in the same transaction, and carries it out here. Waits for its end, but not longer than
 * `limitMs`; then it goes on in the background. Throws the error of a task that has failed for good.
 */
export async function startTask<P>(
  ctx: Context,
  kind: TaskKind<P>,
  work: Work<P>,
  limitMs: number,
  beside: (store: ServerTx, taskId: number) => Promise<void> = async () => {},
): Promise<StartedTask> {
  if (ctx.dryRun !== null) {
    const { id } = await insertTask(ctx, ctx.store, kind, work, newLease(ctx));
    await beside(ctx.store, id);
    const { payload } = work;
    const { signal } = new AbortController();
    await kind.run(ctx, {
      id,
      payload,
      progress: 0,
      signal,
      step: (_progress, step) => ctx.store.tx((tx) => step(tx)),
    });
    await kind.ended?.(ctx, payload, { state: "done", error: "" });
    return { outcome: "done" };
  }
  const lease = newLease(ctx);
  const row = await ctx.store.tx(async (tx) => {
    const inserted = await insertTask(ctx, tx, kind, work, lease);
    await beside(tx, inserted.id);
    return inserted;
  });
  return new Promise((resolve, reject) => {
    const goesOn = { outcome: "goes on", taskId: row.id } as const;
    const timer = setTimeout(() => resolve(goesOn), limitMs);
    inBackground(ctx, kind.name, async (signal) => {
      try {
        const result = await carryOut(ctx, kind as TaskKind<unknown>, { ...row, ...lease }, signal);
        if (result.state === "failed") reject(result.cause);
        else resolve(result.state === "later" ? goesOn : { outcome: "done" });
      } catch (error) {
        resolve(goesOn);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    });
  });
}
