import { id, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly selfServiceCategories: typeof selfServiceCategories;
    readonly titleIcons: typeof titleIcons;
  }
}

/** Packages and store apps name their categories; a category that they name exists. */
export const selfServiceCategories = table(
  "self_service_categories",
  {
    id: id(),
    created_at: time(),
    updated_at: time(),
    /** Null: of hosts without a team. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    name: text(),
    name_key: text(),
  },
  { unique: [["team_id", "name_key"]] },
);

/** Icons that teams have set for titles that they offer. */
export const titleIcons = table(
  "title_icons",
  {
    id: id(),
    team_id: ref("teams").nullable().onDelete("cascade"),
    title_id: ref("software_titles"),
    file_id: ref("files").onDelete("restrict"),
    file_name: text(),
  },
  { unique: [["team_id", "title_id"]] },
);
