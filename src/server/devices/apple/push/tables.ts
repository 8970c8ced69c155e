import { id, int, table, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly applePushes: typeof applePushes;
  }
}

/** What is to be pushed, and when: one row for each enrollment that was asked to connect. */
export const applePushes = table("apple_pushes", {
  id: id(),
  enrollment_id: int().unique(),
  /** When the next push is due; null: none, until one is requested or the device sends another token. */
  due_at: time().nullable().index(),
  /** The last push that was sent. */
  pushed_at: time().nullable(),
  /** How many pushes were sent for what waits now: the later ones are reminders. */
  reminders: int().default(0),
  /** When the service refused the device's token: a token that the device has sent later may be used. */
  refused_at: time().nullable(),
});
