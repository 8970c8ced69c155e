import { bool, id, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly directoryCredentials: typeof directoryCredentials;
  }
}

/** At most one row. */
export const directoryCredentials = table("directory_credentials", {
  id: id(),
  name: text().unique(),
  created_at: time(),
  updated_at: time(),
  tenant_id: text(),
  client_id: text(),
  client_secret: text().secret(),
  credential_invalid: bool().default(false),
  last_synced_at: time().nullable(),
  last_sync_error: text().default(""),
});
