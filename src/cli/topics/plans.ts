// Plans that the server keeps: columns, and a plan with its differences and its effect on hosts for people.
import { type EffectHosts, type Plan, type PlanEffect, PlanItem, type PlannedChange } from "../../api/edge/plans.ts";
import type { Change } from "../../gitops/plan/diff.ts";
import { type Paint, renderPlan, titleOf } from "../../gitops/plan/render.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";
import type { View } from "../output/output.ts";
import { timeColumn } from "../output/time-column.ts";

export const planView = (relative: boolean, now: Date): View => ({
  schema: () => PlanItem,
  columns: [
    { key: "id" },
    { key: "state" },
    { key: "name" },
    { key: "summary.create", header: "add" },
    { key: "summary.update", header: "change" },
    { key: "summary.delete", header: "remove" },
    { key: "created_by.email", header: "author" },
    timeColumn("created_at", "created", relative, now),
    timeColumn("expires_at", "expires", relative, now),
    { key: "applied_by.email", header: "applied by" },
  ],
});

/** `plan 7 (New policies)`. */
export const nameOfPlan = ({ id, name }: Pick<Plan, "id" | "name">): string =>
  `plan ${id}${name === "" ? "" : ` (${printable(name)})`}`;

export const summaryOfPlan = ({ summary: { create, update, delete: remove } }: Pick<Plan, "summary">): string =>
  `${create} to add, ${update} to change, ${remove} to remove`;

export function planText(plan: Plan, paint: Paint): string {
  if (plan.changes.length === 0) return "No changes: the server has all of it already.\n";
  const lines = plan.changes.flatMap(effectLines);
  return `${renderPlan(plan.changes.map(changeOf), paint)}\nHosts:\n${lines.join("\n")}\n`;
}

const changeOf = ({ fields, ...change }: PlannedChange): Change => ({
  ...change,
  fields: fields.map(({ secret, ...field }) => ({ ...field, ...(secret ? { isSecret: true as const } : {}) })),
});

const reasons = {
  wrong_platform: "other platform",
  not_managed: "not managed",
  label_excluded: "excluded by a label",
} as const satisfies Record<PlanEffect["cannot"][number]["reason"], string>;

/** The object, and below it, indented, how many hosts get it and so on. */
function effectLines({ effect, ...change }: PlannedChange): string[] {
  const title = `  ${titleOf(change)}:`;
  if (effect === null) return [`${title} not counted, because the plan has too many changes`];
  const { get, lose, change: keep, cannot, not_computed } = effect;
  const counts = [
    ...lineOf(get, "gets it", "get it"),
    ...lineOf(lose, "loses it", "lose it"),
    ...lineOf(keep, "has it changed", "have it changed"),
    ...cannot.flatMap((hosts) => lineOf(hosts, "cannot have it", "cannot have it", ` (${reasons[hosts.reason]})`)),
  ];
  if (counts.length === 0 && not_computed.length === 0) return [`${title} no hosts`];
  return [title, ...[...counts, ...not_computed].map((line) => `    ${line}`)];
}

function lineOf({ count, hosts }: EffectHosts, one: string, many: string, reason = ""): string[] {
  if (count === 0) return [];
  const names = [...hosts.map(({ display_name }) => printable(display_name)), ...(count > hosts.length ? ["..."] : [])];
  const named = hosts.length === 0 ? "" : `: ${names.join(", ")}`;
  return [`${plural(count, "host")} ${count === 1 ? one : many}${reason}${named}`];
}
