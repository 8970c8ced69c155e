import { idOf, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly deviceTokens: typeof deviceTokens;
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
