import { leaseColumns } from "../../../platform/core/concurrency/lease.ts";
import { bool, idOf, int, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly androidCommandQueues: typeof androidCommandQueues;
    readonly androidCommands: typeof androidCommands;
  }
}

/** Hosts whose devices have commands that are to be sent. */
export const androidCommandQueues = table("android_command_queues", {
  id: idOf("hosts"),
  /** Whether something is to be sent. */
  due: bool().index(),
  /** A random id of what was asked for last: another one means that more was added while it was sent. */
  wanted: text(),
  /** Sending has failed, and is repeated then. */
  retry_at: time().nullable(),
  /** In a row. */
  failures: int().default(0),
  ...leaseColumns,
});

/** Commands that the vendor has accepted. */
export const androidCommands = table("android_commands", {
  id: idOf("operations"),
  /** The vendor's name of it: `enterprises/LC1/devices/2/operations/3`. */
  name: text().unique(),
});
