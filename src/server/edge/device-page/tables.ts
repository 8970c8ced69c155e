import { idOf, table, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly macMigrations: typeof macMigrations;
  }
}

/** When the user of a Mac has last asked to leave another device management. */
export const macMigrations = table("mac_migrations", { id: idOf("hosts"), requested_at: time() });
