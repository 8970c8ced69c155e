// Tables with every kind of column, index and reference, for the contract tests.
import {
  bool,
  id,
  idOf,
  ids,
  int,
  json,
  packed,
  real,
  ref,
  table,
  text,
  time,
} from "../../../src/server/platform/store/table.ts";

export const teams = table("t_teams", { id: id(), name: text().unique(), code: text().nullable().unique() });

export const hosts = table(
  "t_hosts",
  {
    id: id(),
    team_id: ref("t_teams").nullable(),
    name: text().search(),
    note: text().nullable().index().search(),
    rank: int().nullable().index(),
    load: real().default(0),
    online: bool().default(false).index(),
    seen_at: time().nullable().index(),
    facts: json<unknown>().default({}),
    token: text().nullable().secret(),
  },
  { unique: [["team_id", "name"]], indexes: [["online", "rank"]] },
);

export const details = table("t_details", {
  id: idOf("t_hosts"),
  software: ids("t_software"),
  users: packed<unknown>().nullable(),
});

export const tags = table(
  "t_tags",
  { id: id(), host_id: ref("t_hosts"), label: text().search() },
  { unique: [["host_id", "label"]] },
);

export const locks = table("t_locks", { id: id(), host_id: ref("t_hosts").onDelete("restrict"), reason: text() });

export const testTables = { teams, hosts, details, tags, locks };
export type TestTables = typeof testTables;
