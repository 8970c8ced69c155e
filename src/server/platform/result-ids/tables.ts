import { id, table, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly policyResultIds: typeof policyResultIds;
  }
}

/** Sequence for `result_id` and `asked_revision`: ids are never reused, and only the newest row is kept. */
export const policyResultIds = table("policy_result_ids", { id: id(), created_at: time() });
