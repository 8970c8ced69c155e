import { bool, id, idOf, int, packed, ref, table, text, time } from "../store/table.ts";

/** A script that one host is to run, or ran, through its managed agent. */
export const scriptRuns = table(
  "script_runs",
  {
    id: id(),
    created_at: time().index(),
    execution_id: text().unique(),
    host_id: ref("hosts"),
    kind: text<"lock" | "unlock" | "wipe" | "script">(),
    /** Who asked; null: the server itself, or a user who is gone. */
    user_id: ref("users").nullable(),
    /** With variables in it, which are filled in when the agent fetches it. */
    contents: packed<string>(),
    /** Seconds. */
    timeout: int(),
    state: text<"pending" | "done" | "cancelled">().default("pending"),
    /** The agent has fetched it. */
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

/** Lock, unlock and wipe of a host: what was last asked, and what is so. Without a row: unlocked, nothing pending. */
export const hostActions = table("host_actions", {
  id: idOf("hosts"),
  locked: bool().default(false).index(),
  wiped: bool().default(false),
  pending: text<"" | "lock" | "unlock" | "wipe">().default("").index(),
  /** The script run, or a later deliverer's own reference, that the pending action waits for. */
  reference: text().default(""),
  requested_at: time().nullable(),
  /** PIN that unlocks a Mac. */
  pin: text().nullable().secret(),
  /** Why the last action failed, with what the host said; empty: it did not. */
  failure: text().default(""),
});
