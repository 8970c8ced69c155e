import { idOf, int, table, text } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly windowsUpdates: typeof windowsUpdates;
  }
}

/** What enrolled devices were last asked about the deadlines of their updates. No row: nothing. */
export const windowsUpdates = table("windows_updates", {
  id: idOf("hosts"),
  /** Null: to delete the deadlines that they had. */
  deadline_days: int().nullable(),
  grace_period_days: int().nullable(),
  /** Null: the command was dropped, and has to be sent again. */
  command_uuid: text().nullable(),
});
