import { id, json, table, text, time } from "../store/table.ts";
import type { Hit } from "./windows.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly rateLimits: typeof rateLimits;
  }
}

/**
 * Counts of rate limits, shared by all servers. Rows are written only for attempts that were allowed, which each
 * limit caps for all callers together, and for a limited number of addresses with failures: strangers cannot fill the
 * table.
 */
export const rateLimits = table("rate_limits", {
  id: id(),
  scope: text().index(),
  /** SHA-256 (hex) of the scope and the key: addresses and emails are not stored. */
  key_hash: text().unique(),
  hits: json<readonly Hit[]>(),
  /** The row has no effect after this time. */
  expires_at: time().index(),
});
