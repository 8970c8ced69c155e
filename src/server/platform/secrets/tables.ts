import { id, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly serverSecrets: typeof serverSecrets;
  }
}

/** Keys that servers of one store share, made when first needed. */
export const serverSecrets = table("server_secrets", {
  id: id(),
  name: text().unique(),
  created_at: time(),
  value: text().secret(),
});
