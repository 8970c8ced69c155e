import { id, idOf, int, type RowOf, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly setupScripts: typeof setupScripts;
    readonly hostSetups: typeof hostSetups;
    readonly hostSetupItems: typeof hostSetupItems;
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

/**
 * The setup of each host whose managed agent has enrolled, or which has waited in its setup assistant. The row stays, so
 * that a setup happens once.
 */
export const hostSetups = table("host_setups", {
  id: idOf("hosts"),
  created_at: time(),
  /** The host's team at that time. A host that changes its team gets nothing more of the old one. */
  team_id: int().nullable(),
  /** `none`: nothing was chosen for its team. `pending`: it has not begun, so the items are not fixed yet. */
  state: text<"none" | "pending" | "running" | "ended">(),
  started_at: time().nullable(),
  ended_at: time().nullable(),
});

/** What a host does during its setup, one after the other. */
export const hostSetupItems = table(
  "host_setup_items",
  {
    id: id(),
    host_id: ref("hosts"),
    position: int(),
    kind: text<"package" | "store_app" | "script">(),
    /** Null: the script, or a title that was deleted since. */
    title_id: ref("software_titles").nullable(),
    name: text(),
    display_name: text().default(""),
    state: text<"pending" | "running" | "success" | "failure">().default("pending"),
    /** The uuid of the installation, the command or the run of the script, once it was asked for. */
    uuid: text().nullable(),
    /** Why it has failed. */
    detail: text().default(""),
  },
  { unique: [["host_id", "position"]] },
);

export type HostSetupRow = RowOf<typeof hostSetups>;
export type SetupItemRow = RowOf<typeof hostSetupItems>;
