import { labelFields } from "../../../api/hosts/label.ts";
import type { LabelItem, LabelSpec } from "../../../api/hosts/labels.ts";
import { fieldNames, pick } from "../../../api/plain-fields.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { ShownErrors } from "../query-errors/errors.ts";
import type { labels } from "./tables.ts";

const plainNames = fieldNames(labelFields);

export type LabelRow = RowOf<typeof labels>;

export function labelOnWire(
  row: LabelRow,
  { count, errors, hostIds = [] }: { count: number; errors: ShownErrors; hostIds?: readonly number[] },
): LabelItem {
  const { revision: _revision, asked_teams: _teams, asked_revision: _asked, criteria, ...label } = row;
  return {
    ...label,
    ...(criteria === null ? {} : { criteria }),
    team_id: null,
    ...(count === 0 ? {} : { host_count: count }),
    display_text: row.name,
    count,
    ...errors,
    ...(hostIds.length === 0 ? {} : { host_ids: [...hostIds] }),
  };
}

export function specOf(row: LabelRow, hosts: LabelSpec["hosts"] | undefined): LabelSpec {
  const { id, name, query, platform, label_type, label_membership_type, criteria } = row;
  return {
    id,
    name,
    ...pick(row, plainNames),
    query,
    platform,
    label_type,
    label_membership_type,
    ...(hosts === undefined ? {} : { hosts }),
    ...(criteria === null ? {} : { criteria }),
  };
}
