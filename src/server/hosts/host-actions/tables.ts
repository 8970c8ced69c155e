import { bool, id, idOf, int, packed, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly scriptRuns: typeof scriptRuns;
    readonly hostActions: typeof hostActions;
  }
}

/** Empty since 0.2.0, and kept only for servers of that version, which delete from it with a host: scripts are operations. */
export const scriptRuns = table(
  "script_runs",
  {
    id: id(),
    created_at: time().index(),
    execution_id: text().unique(),
    host_id: ref("hosts"),
    kind: text<"lock" | "unlock" | "wipe" | "script">(),
    /** The requester; null: the server itself, or a deleted user. */
    user_id: ref("users").nullable(),
    /** Variables are substituted when the agent fetches the script. */
    contents: packed<string>(),
    /** Seconds. */
    timeout: int(),
    state: text<"pending" | "done" | "cancelled">().default("pending"),
    /** When the agent fetched it. */
    started_at: time().nullable(),
    ended_at: time().nullable(),
    /** -1: timed out or killed, -2: scripts are disabled; null while pending. */
    exit_code: int().nullable(),
    output: packed<string>().nullable(),
    /** Seconds. */
    runtime: int().nullable(),
  },
  { indexes: [["host_id", "state"]] },
);

/** Current state and last requested action of a host. Without a row: unlocked, nothing pending. */
export const hostActions = table("host_actions", {
  id: idOf("hosts"),
  locked: bool().default(false).index(),
  wiped: bool().default(false),
  pending: text<"" | "lock" | "unlock" | "wipe">().default("").index(),
  /** The operation whose answer the pending action waits for. */
  reference: text().default(""),
  requested_at: time().nullable(),
  /** The PIN that unlocks a Mac. */
  pin: text().nullable().secret(),
  /** Error of the last action, with the script's output; empty if it succeeded. */
  failure: text().default(""),
});
