import type { Sharing, View } from "../../../api/settings/views.ts";
import { id, json, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly views: typeof views;
  }
}

export const views = table("views", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  /** NFC, trimmed. */
  name: text().search(),
  page: text<View["page"]>(),
  query: json<Record<string, string>>(),
  columns: json<string[]>().nullable(),
  shared: text<Sharing>(),
  /** Only of private views, which are deleted with their owner. */
  owner_id: ref("users").nullable().onDelete("cascade"),
  /** Only of views that are shared with a team. */
  team_id: ref("teams").nullable().onDelete("cascade"),
  author_id: ref("users").nullable(),
  /** Place, page and name: two views of a place and page do not have the same name. */
  key: text().unique(),
});
