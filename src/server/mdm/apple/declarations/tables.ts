import { bool, idOf, table, text } from "../../../store/table.ts";

declare module "../../../core/tables.ts" {
  interface Tables {
    readonly appleUpdates: typeof appleUpdates;
  }
}

/** The update deadline of a host, as it was declared last. A row for each host that has one. */
export const appleUpdates = table("apple_updates", {
  id: idOf("hosts"),
  version: text(),
  deadline: text(),
  /** False: the system of the host is too old for declarations of updates. */
  is_declared: bool(),
});
