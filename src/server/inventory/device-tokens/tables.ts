import { id, idOf, int, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly deviceTokens: typeof deviceTokens;
    readonly deviceLinks: typeof deviceLinks;
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

/** Tokens of links to a host's device page that users of this server have asked for. */
export const deviceLinks = table("device_links", {
  id: id(),
  host_id: ref("hosts").onDelete("cascade"),
  /** Who has asked for it. Null: an earlier version has not stored that, and the link is not accepted. */
  user_id: ref("users").nullable().onDelete("cascade"),
  /** The team of the host at that time. */
  team_id: int().nullable(),
  token_hash: text().unique(),
  expires_at: time().index(),
});
