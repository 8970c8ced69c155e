// Runs an action on many hosts as a task, and records what comes of it on each of them.
import type { Action } from "../../../api/access.ts";
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import { seconds } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { forbidden } from "../../platform/core/errors.ts";
import type { Reply } from "../../platform/core/http/route.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { recordTaskHosts, type TaskHostRow } from "../../platform/tasks/hosts.ts";
import { startTask } from "../../platform/tasks/queue.ts";
import type { RunningTask, TaskKind } from "../../platform/tasks/task.ts";
import { type Choice, chosenIds } from "../host-list/chosen.ts";
import { type BulkAction, judge } from "./action.ts";
import { nothingDone, outcomeOf } from "./outcome.ts";
import { previewOf } from "./preview.ts";
import { reasonFor } from "./reasons.ts";

/** Hosts that are done together in one transaction: few enough that other requests do not wait long. */
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
  if (ctx.dryRun !== null) {
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
  return outcomeOf(ctx.store, taskId, ids.length);
}

/** The steps of a task, as far as the user may still do this. */
export async function runOnHosts<O>(ctx: Context, action: BulkAction<O>, task: Task<O>): Promise<void> {
  // The user may have lost the role since the request.
  if (!maySomewhere(ctx.user, action.permission)) throw forbidden();
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
