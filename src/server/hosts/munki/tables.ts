import { id, idOf, ids, json, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly munkiIssues: typeof munkiIssues;
    readonly hostMunki: typeof hostMunki;
  }
}

export const munkiIssues = table(
  "munki_issues",
  { id: id(), name: text(), type: text<"error" | "warning">() },
  { unique: [["name", "type"]] },
);

export const hostMunki = table("host_munki", {
  id: idOf("hosts"),
  version: text().index(),
  issue_ids: ids("munki_issues"),
  /** Since when the host has each issue, by the issue's id (ISO times). */
  since: json<Record<string, string>>(),
  updated_at: time(),
});
