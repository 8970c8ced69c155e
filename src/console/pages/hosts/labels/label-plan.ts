import type { PlanChange } from "../../../../api/edge/plans.ts";
import type { LabelItem } from "../../../../api/hosts/labels.ts";
import { CANNOT_RENAME } from "../../../parts/plans/plan-button.tsx";
import { linesOf } from "./lines.ts";

type Texts = Readonly<Record<"name" | "description" | "hosts", string>>;

const planned = (name: string, value: Readonly<Record<string, unknown>>): PlanChange => ({
  kind: "label",
  owner: null,
  name,
  action: "set",
  value: value as PlanChange["value"],
});

/** A new label as a plan has it. */
export function planOfNewLabel(
  values: Texts & Readonly<Record<"kind" | "query" | "platform" | "criteria", string>>,
): PlanChange {
  const { name, description, kind, query, platform, criteria, hosts } = values;
  if (kind === "dynamic") return planned(name, { description, query, platform });
  if (kind === "manual") return planned(name, { description, label_membership_type: "manual", hosts: linesOf(hosts) });
  const by = kind === "where" ? { where: criteria } : { vital: kind, value: criteria };
  return planned(name, { description, label_membership_type: "host_vitals", criteria: by });
}

/** What the form of a label changes. `before` are its hosts as the form began with them; null: they are not named. */
export function planOfLabel(label: LabelItem, values: Texts, before: string | null): PlanChange | string {
  if (values.name !== label.name) return CANNOT_RENAME;
  const isOther = before !== null && values.hosts !== before;
  return planned(label.name, { description: values.description, ...(isOther ? { hosts: linesOf(values.hosts) } : {}) });
}
