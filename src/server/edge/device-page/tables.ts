import { idOf, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly deviceTokens: typeof deviceTokens;
    readonly macMigrations: typeof macMigrations;
  }
}

/**
 * The token of a host's device page: created by its agent and replaced hourly. A new one invalidates the previous one.
 */
export const deviceTokens = table("device_tokens", {
  id: idOf("hosts"),
  token_hash: text().unique(),
  updated_at: time(),
});

/** When the user of a Mac has last asked to leave another device management. */
export const macMigrations = table("mac_migrations", { id: idOf("hosts"), requested_at: time() });
