import { bool, id, int, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly packs: typeof packs;
    readonly packTargets: typeof packTargets;
    readonly scheduledQueries: typeof scheduledQueries;
  }
}

export const packs = table("packs", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  name: text().unique().search(),
  description: text().default(""),
  platform: text().default(""),
  disabled: bool().default(false),
});

/** The targets of a pack: single hosts, the hosts of a label, or the hosts of a team. */
export const packTargets = table(
  "pack_targets",
  {
    id: id(),
    pack_id: ref("packs"),
    host_id: ref("hosts").nullable().onDelete("cascade"),
    label_id: ref("labels").nullable().onDelete("cascade"),
    team_id: ref("teams").nullable().onDelete("cascade"),
  },
  { unique: [["pack_id", "host_id", "label_id", "team_id"]] },
);

export const scheduledQueries = table(
  "scheduled_queries",
  {
    id: id(),
    created_at: time(),
    updated_at: time(),
    pack_id: ref("packs"),
    query_id: ref("queries"),
    name: text(),
    description: text().default(""),
    /** Seconds. */
    interval: int(),
    snapshot: bool().default(false),
    removed: bool().default(true),
    platform: text().default(""),
    version: text().default(""),
    /** Percentage of the hosts. Null means all. */
    shard: int().nullable(),
    denylist: bool().default(true),
  },
  { unique: [["pack_id", "name"]] },
);
