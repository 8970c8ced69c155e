// What a kind of task is.
import type { Context } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";

export interface TaskKind<P> {
  /** The name that users see, such as delete_hosts. */
  readonly name: string;
  /**
   * Does the work from `task.progress` on, in steps. It may be called again after a failure, on any server. It runs as
   * the requester, with the roles that the requester has now. An `ApiError` below 500 ends the task; after other
   * errors it is tried again.
   */
  run(ctx: Context, task: RunningTask<P>): Promise<void>;
  /** Runs in the transaction in which the task ends, whatever its outcome, in the name of the server. */
  ended?(ctx: Context, payload: P, outcome: TaskOutcome): Promise<void>;
}

export interface RunningTask<P> {
  readonly id: number;
  readonly payload: P;
  /** Units that were done before. */
  readonly progress: number;
  /** Aborts when the server is stopping or another one has taken over. Work between two steps ends then. */
  readonly signal: AbortSignal;
  /**
   * One transaction of the work, after which `progress` units are done. Throws if the task was cancelled, the server is
   * stopping, or another server has taken over; nothing is written then.
   */
  step<T>(progress: number, work: (store: ServerTx) => Promise<T>): Promise<T>;
}

export interface TaskOutcome {
  readonly state: "done" | "failed" | "cancelled";
  /** Empty unless it has failed. */
  readonly error: string;
}
