import { id, int, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly policyRuns: typeof policyRuns;
  }
}

export const policyRuns = table(
  "policy_runs",
  {
    id: id(),
    created_at: time().index(),
    policy_id: int(),
    host_id: int(),
    /** The entry of the activity feed that says what was done. */
    activity_id: int(),
    status: text<"success" | "error">(),
  },
  {
    indexes: [
      ["policy_id", "created_at"],
      ["policy_id", "status", "created_at"],
      ["host_id", "policy_id"],
    ],
  },
);
