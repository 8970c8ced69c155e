import { idOf, json, table, text, time } from "../../../store/table.ts";

declare module "../../../core/tables.ts" {
  interface Tables {
    readonly appleSetups: typeof appleSetups;
  }
}

/** Devices that wait in their setup assistant until this server releases them. */
export const appleSetups = table("apple_setups", {
  id: idOf("hosts"),
  started_at: time(),
  /** From then on the device is no longer kept waiting. */
  due_at: time(),
  /** Names of the steps that have ended. */
  done: json<readonly string[]>(),
  /** Name of the step that has begun last. */
  begun: text().nullable(),
  /** When the device was sent the command that ends its wait. */
  released_at: time().nullable().index(),
});
