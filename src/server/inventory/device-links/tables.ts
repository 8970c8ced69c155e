import { id, int, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly deviceLinks: typeof deviceLinks;
  }
}

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
