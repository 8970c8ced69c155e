import { id, int, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly policyResultIds: typeof policyResultIds;
    readonly serverSecrets: typeof serverSecrets;
    readonly unusedRows: typeof unusedRows;
  }
}

/** Sequence for `result_id` and `asked_revision`: ids are never reused, and only the newest row is kept. */
export const policyResultIds = table("policy_result_ids", { id: id(), created_at: time() });

/** Keys that servers of one store share, made when first needed. */
export const serverSecrets = table("server_secrets", {
  id: id(),
  name: text().unique(),
  created_at: time(),
  value: text().secret(),
});

/** Rows of other tables that were found unused, and are deleted if they stay so. */
export const unusedRows = table(
  "unused_rows",
  {
    id: id(),
    table_name: text(),
    row_id: int(),
    /** When the row was first found unused. */
    since: time(),
  },
  { unique: [["table_name", "row_id"]] },
);
