import { id, type RowOf, ref, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly setupScripts: typeof setupScripts;
  }
}

/** What hosts of a team run at the end of their setup: at most one script for each team. */
export const setupScripts = table("setup_scripts", {
  id: id(),
  /** The team's id as text, or "none": hosts without a team. */
  team_key: text().unique(),
  team_id: ref("teams").nullable().onDelete("cascade"),
  name: text(),
  text_id: ref("script_texts").onDelete("restrict"),
  created_at: time(),
  updated_at: time(),
});

export type SetupScriptRow = RowOf<typeof setupScripts>;
