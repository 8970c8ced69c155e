import { bool, idOf, table, text } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly windowsStartupPins: typeof windowsStartupPins;
  }
}

/** Enrolled devices that were sent the policy for BitLocker PINs, or its removal. No row: nothing. */
export const windowsStartupPins = table("windows_startup_pins", {
  id: idOf("hosts"),
  /** False: to delete the policy that they had. */
  allows_pin: bool(),
  /** Null: the command was dropped, and has to be sent again. */
  command_uuid: text().nullable(),
});
