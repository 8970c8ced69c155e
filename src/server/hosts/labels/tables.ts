import { labelFields } from "../../../api/hosts/label.ts";
import type { LabelCriteria } from "../../../api/hosts/labels.ts";
import { plainColumns } from "../../platform/store/plain-columns.ts";
import { id, int, json, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly labels: typeof labels;
    readonly labelMembers: typeof labelMembers;
  }
}

export const labels = table("labels", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  author_id: ref("users").nullable(),
  name: text().unique().search(),
  ...plainColumns(labelFields),
  query: text().default(""),
  /** Empty means every platform. */
  platform: text().default(""),
  label_type: text<"builtin" | "regular">(),
  label_membership_type: text<"dynamic" | "manual" | "host_vitals">(),
  criteria: json<LabelCriteria>().nullable(),
  /**
   * The teams on whose hosts the query runs, derived from the author's roles (see reach.ts). Null means all hosts.
   */
  asked_teams: json<number[]>().nullable(),
  /** Increased when the query changes, so that an answer to the old query is ignored. */
  asked_revision: int().default(0),
});

export const labelMembers = table(
  "label_members",
  { id: id(), label_id: ref("labels"), host_id: ref("hosts") },
  { unique: [["label_id", "host_id"]] },
);
