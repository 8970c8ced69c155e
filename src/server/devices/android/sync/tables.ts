import { id, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly androidMessages: typeof androidMessages;
  }
}

/** Messages of the vendor that were processed: each may arrive several times. */
export const androidMessages = table("android_messages", {
  id: id(),
  message_id: text().unique(),
  received_at: time().index(),
});
