import type { CommandStatus } from "../../../api/devices/commands.ts";
import { idOf, packed, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly mdmCommands: typeof mdmCommands;
  }
}

/** A command of device management for one host; its id is that of its operation. */
export const mdmCommands = table("mdm_commands", {
  id: idOf("operations"),
  /** What devices get as the command's id. Several hosts may have the same. */
  command_uuid: text().index(),
  host_id: ref("hosts"),
  request_type: text(),
  /** Name of the profile, if the command concerns one. */
  name: text().nullable(),
  /** The content with its passwords, until the device has answered; null: the stored content has none. */
  sealed_content: text().nullable().secret(),
  /** `Pending` until the device answers, or `101` on Windows; then what it answered. */
  status: text().default("Pending"),
  /** The device's last answer, in base64. */
  result: packed<string>().nullable(),
  /** What that means. A device that postpones it (`NotNow`) leaves it pending. */
  command_status: text<CommandStatus>().default("pending"),
  updated_at: time().index(),
});
