// What the agent and its second process send each other, as JSON.
import type { SessionContext } from "../queries/sqlite.ts";

export type Task =
  /** Answered with a `SqlAnswer`. Queries of one session see the same tables. */
  | { readonly kind: "query"; readonly session: number; readonly sql: string; readonly context: SessionContext }
  | { readonly kind: "close"; readonly session: number }
  /** Answered with the ids of the processes that have this variable in their environment: `NAME=value`. */
  | { readonly kind: "find-processes"; readonly variable: string };

export interface TaskMessage {
  readonly id: number;
  readonly task: Task;
}

export type TaskReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string };
