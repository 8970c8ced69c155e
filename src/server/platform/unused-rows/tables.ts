import { id, int, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly unusedRows: typeof unusedRows;
  }
}

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
