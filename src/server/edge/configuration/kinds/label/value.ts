import { z } from "zod";
import { compareHosts } from "../../../../../api/edge/configuration.ts";
import { labelFields } from "../../../../../api/hosts/label.ts";
import { LabelSpecInput } from "../../../../../api/hosts/labels.ts";
import { fieldNames, pick } from "../../../../../api/plain-fields.ts";
import { labelName } from "../../../../hosts/labels/names.ts";
import type { LabelColumns } from "../../../../hosts/labels/write.ts";
import { checkSpec } from "../../../../inventory/labels/spec.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import type { RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import type { HostName, SharedRows } from "../../shared-rows.ts";
import type { Thing } from "../../values.ts";

const LabelValue = z.strictObject(LabelSpecInput.omit({ name: true, label_type: true }).shape);

/** `hosts` are the names of manual labels' hosts; null if the caller may not write labels. */
export const labelThings = (hosts: ReadonlyMap<number, readonly HostName[]> | null, { labels }: SharedRows): Thing[] =>
  hosts
    ? labels
        .filter(({ label_type: type }) => type === "regular")
        .map((row) => ({ kind: "label", owner: null, name: row.name, value: labelValue(row, hosts.get(row.id) ?? []) }))
    : [];

export const labelValue = (
  { label_membership_type, query, platform, criteria, ...columns }: Omit<LabelColumns, "name">,
  hosts: readonly HostName[],
) => ({
  ...pick(columns, fieldNames(labelFields)),
  platform,
  label_membership_type,
  query,
  criteria,
  hosts: label_membership_type === "manual" ? [...hosts].sort(compareHosts) : null,
});

export interface DesiredLabel {
  readonly columns: LabelColumns;
  /** The hosts of a manual label, as given. */
  readonly hosts: readonly HostName[] | null;
}

export function readLabel(ctx: Pick<Context, "clock">, { name, value }: RequestedChange): DesiredLabel {
  if (labelName(name) !== name) throw invalid("change.name", "must be in Unicode NFC, without surrounding spaces");
  const spec = parsed(LabelValue, value);
  const { at: _at, hosts, ...columns } = checkSpec(ctx, { ...spec, name }, "value");
  return { columns, hosts: columns.label_membership_type === "manual" ? (hosts ?? []) : null };
}
