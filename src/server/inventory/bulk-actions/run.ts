// Runs an action on many hosts as a task, and records what comes of it on each of them.
import type { Action } from "../../../api/access.ts";
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import { seconds } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { type ApiError, forbidden } from "../../platform/core/errors.ts";
import type { Reply } from "../../platform/core/http/route.ts";
import { byId } from "../../platform/core/maps.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import { recordTaskHosts, type TaskHostRow } from "../../platform/tasks/hosts.ts";
import { startTask } from "../../platform/tasks/queue.ts";
import type { RunningTask, TaskKind } from "../../platform/tasks/task.ts";
import { type Choice, chosenIds } from "../host-list/chosen.ts";
import { type BulkAction, isRefusal, isSetAction, judge, type SetAction, type SingleAction } from "./action.ts";
import { nothingDone, outcomeOf } from "./outcome.ts";
import { previewOf } from "./preview.ts";
import { reasonFor } from "./reasons.ts";

/** Hosts in one transaction: few enough that other requests do not wait long. */
const BATCH_SIZE = 50;
/** Hosts that are done together, which takes less time for each. */
const SET_SIZE = 200;
/** An action that takes longer is answered and continues as a task, because clients time out after 30 seconds. */
const TIME_LIMIT = seconds(10);

export interface BulkWork<O> {
  readonly ids: readonly number[];
  readonly options: O;
}

export interface BulkTask<O> extends TaskKind<BulkWork<O>> {
  readonly action: BulkAction<O>;
}

export const bulkTask = <O>(action: BulkAction<O>): BulkTask<O> => ({
  name: action.name,
  action,
  run: (ctx, task) => runOnHosts(ctx, action, task),
});

type Task<O> = Pick<RunningTask<BulkWork<O>>, "id" | "payload" | "progress" | "step">;

/** What is charged or recorded in the transaction that creates the task. */
type Beside = (store: ServerTx, ids: readonly number[]) => Promise<void>;

export async function actOnHosts<O>(
  ctx: Context,
  task: BulkTask<O>,
  { permission, choice, options }: { permission: Action; choice: Choice; options: O },
  reply: Reply,
): Promise<BulkOutcome> {
  return startOnHosts(ctx, task, { ids: await chosenIds(ctx, permission, choice), options }, reply);
}

/** The hosts have been chosen and authorized. */
export async function startOnHosts<O>(
  ctx: Context,
  task: BulkTask<O>,
  { ids, options }: BulkWork<O>,
  reply: Reply,
  beside: Beside = async () => {},
): Promise<BulkOutcome> {
  if (ids.length === 0) return nothingDone;
  const ascending = [...ids].sort((a, b) => a - b);
  if (ctx.dryRun !== null && isSetAction(task.action)) {
    await beside(ctx.store, ids);
    return previewOf(ctx, task.action, ascending, options);
  }
  const work = { payload: { ids: ascending, options }, total: ids.length };
  let taskId = 0;
  const started = await startTask(ctx, task, work, TIME_LIMIT, async (store, id) => {
    taskId = id;
    await beside(store, ids);
  });
  if (started.outcome === "goes on") reply.status = 202;
  const outcome = await outcomeOf(ctx.store, taskId, ids.length);
  // The task of a dry run does not exist afterwards.
  return ctx.dryRun === null ? outcome : { ...outcome, task_id: null };
}

/** The steps of a task, as far as the user may still do this. */
export async function runOnHosts<O>(ctx: Context, action: BulkAction<O>, task: Task<O>): Promise<void> {
  // The user may have lost the role since the request.
  if (!maySomewhere(ctx.user, action.permission)) throw forbidden();
  if (isSetAction(action)) await runOnSets(ctx, action, task);
  else await new SingleRun(ctx, action, task).run();
}

/** The hosts of a set are done together, in one transaction. */
async function runOnSets<O>(ctx: Context, action: SetAction<O>, task: Task<O>): Promise<void> {
  const { ids, options } = task.payload;
  for (let at = task.progress; at < ids.length; at += SET_SIZE) {
    const set = ids.slice(at, at + SET_SIZE);
    await task.step(at + set.length, async (store) => {
      await action.lock(store, set);
      const inside = within(ctx, store);
      const { admitted, refusals, names } = await judge(inside, action, set, options);
      const references =
        admitted.length === 0 ? new Map<number, string>() : await action.onHosts(inside, admitted, options);
      const rowOf = (id: number): TaskHostRow => {
        const [name, refusal] = [names.get(id) ?? "", refusals.get(id)];
        const row = { task_id: task.id, host_id: id, display_name: name };
        return refusal === undefined
          ? { ...row, outcome: "done", reference: references.get(id) ?? "" }
          : { ...row, outcome: "skipped", reason: reasonFor(refusal, name) };
      };
      await recordTaskHosts(store, set.map(rowOf));
    });
  }
}

/** Hosts are done one after the other, several in one transaction. */
class SingleRun<O> {
  readonly #ctx: Context;
  readonly #action: SingleAction<O>;
  readonly #task: Task<O>;
  readonly #batchSize: number;

  constructor(ctx: Context, action: SingleAction<O>, task: Task<O>) {
    this.#ctx = ctx;
    this.#action = action;
    this.#task = task;
    // A step of a dry run is not rolled back when it fails, so it must not be repeated.
    this.#batchSize = ctx.dryRun === null ? BATCH_SIZE : 1;
  }

  async run(): Promise<void> {
    const { ids } = this.#task.payload;
    for (let at = this.#task.progress; at < ids.length; ) at = await this.#batch(at, at + this.#batchSize);
  }

  /**
   * Returns where the next batch begins. A host that refuses rolls the batch back, since it may have written something
   * before: the hosts before it are then done again, without it, and the batch ends after it.
   */
  async #batch(begin: number, end: number): Promise<number> {
    let ids = this.#task.payload.ids.slice(begin, end);
    let refusal: Refusal | null = null;
    for (;;)
      try {
        await this.#step(begin, ids, refusal);
        return begin + ids.length;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusal = error;
        ids = ids.slice(0, error.at + 1);
      }
  }

  /** One transaction. `refusal`: the last of the hosts is skipped for this reason. */
  #step(begin: number, ids: readonly number[], refusal: Refusal | null): Promise<void> {
    return this.#task.step(begin + ids.length, async (store) => {
      await this.#action.lock(store, ids);
      const inside = within(this.#ctx, store);
      const hosts = byId(await store.hosts.pick(["id", "display_name"], { where: oneOf("id", ids) }));
      const rowOf = (id: number) => ({
        task_id: this.#task.id,
        host_id: id,
        display_name: hosts.get(id)?.display_name ?? "",
      });
      const rows: TaskHostRow[] = [];
      for (const [at, id] of (refusal === null ? ids : ids.slice(0, -1)).entries())
        rows.push({ ...rowOf(id), outcome: "done", reference: await this.#onHost(inside, id, at) });
      if (refusal !== null) {
        const row = rowOf(ids.at(-1)!);
        rows.push({ ...row, outcome: "skipped", reason: reasonFor(refusal.reason, row.display_name) });
      }
      await recordTaskHosts(store, rows);
    });
  }

  async #onHost(inside: Context, id: number, at: number): Promise<string> {
    try {
      return await this.#action.onHost(inside, id, this.#task.payload.options);
    } catch (error) {
      throw isRefusal(error) ? new Refusal(at, error) : error;
    }
  }
}

/** The host at this place of the batch cannot do it. */
class Refusal extends Error {
  readonly at: number;
  readonly reason: ApiError;

  constructor(at: number, reason: ApiError) {
    super(reason.message);
    this.at = at;
    this.reason = reason;
  }
}
