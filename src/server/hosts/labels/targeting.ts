// Label lists of profiles and software, as requests give them, as rows keep them, and as replies show them.

import { deletedLabel } from "../../../api/edge/configuration.ts";
import type { LabelsInput, ScopeLabel } from "../../../api/hosts/label-scope.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { invalid, premiumRequired } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { labelNames, resolveLabelNames } from "./scope.ts";

export type LabelRule = "include_all" | "include_any" | "exclude_any";

/** A label that limits something to some hosts. One that was deleted has no id any more. */
export interface TargetLabel {
  readonly label_id: number | null;
  readonly name: string;
  readonly rule: LabelRule;
}

export interface ResolvedLabel extends TargetLabel {
  readonly label_id: number;
}

/**
 * 400 for unknown labels, 422 for lists that cannot be combined: profiles may have a list of excluded labels besides one
 * of included ones, software only one list. Null: no labels were given.
 */
export async function resolveTargets(
  ctx: Context,
  input: LabelsInput,
  kind: TargetKind,
): Promise<ResolvedLabel[] | null> {
  const lists = listsOf(input);
  checkLists(ctx, lists, kind);
  const resolved = await resolveLists(ctx, lists, kind);
  return lists.every(([, , names]) => names === undefined) ? null : resolved;
}

/**
 * Resolves labels for an object that has `stored` now: it keeps those of its deleted labels that are named as
 * `deletedLabel` names them.
 */
export async function resolveKept(
  ctx: Context,
  input: LabelsInput,
  kind: TargetKind,
  stored: readonly TargetLabel[],
): Promise<TargetLabel[]> {
  const lists = listsOf(input);
  checkLists(ctx, lists, kind);
  const isKept = (label: TargetLabel): boolean =>
    label.label_id === null &&
    lists.some(([rule, , names]) => rule === label.rule && names?.includes(deletedLabel(label.name)));
  const deletedLabels = stored.filter(isKept).map(({ label_id, name, rule }) => ({ label_id, name, rule }));
  const isOf = (rule: LabelRule, name: string): boolean =>
    deletedLabels.some((label) => label.rule === rule && deletedLabel(label.name) === name);
  const others = lists.map(([rule, field, names]): List => [rule, field, names?.filter((name) => !isOf(rule, name))]);
  return [...(await resolveLists(ctx, others, kind)), ...deletedLabels];
}

type TargetKind = "profile" | "software";
/** A list with the name of its field. */
type List = readonly [LabelRule, string, string[] | undefined];

const listsOf = (input: LabelsInput): readonly List[] => [
  ["include_all", "labels", input.labels],
  ["include_all", "labels_include_all", input.labels_include_all],
  ["include_any", "labels_include_any", input.labels_include_any],
  ["exclude_any", "labels_exclude_any", input.labels_exclude_any],
];

function checkLists(ctx: Context, lists: readonly List[], kind: TargetKind): void {
  const used = lists.filter(([, , names]) => names !== undefined && names.length > 0);
  if (used.length > 0 && !isPremium(ctx)) throw premiumRequired();
  const alternatives = kind === "profile" ? used.filter(([rule]) => rule !== "exclude_any") : used;
  if (alternatives.length > 1)
    throw invalid(
      alternatives[1]![1],
      `only one of ${alternatives.map(([, field]) => field).join(" and ")} can be given for ${kind === "profile" ? "a profile" : "software"}`,
    );
}

async function resolveLists(ctx: Context, lists: readonly List[], kind: TargetKind): Promise<ResolvedLabel[]> {
  const resolved: ResolvedLabel[] = [];
  for (const [rule, field, names = []] of lists)
    for (const { id, name } of await resolveLabelNames(ctx, names, kind, field))
      resolved.push({ label_id: id, name, rule });
  const excluded = new Set(resolved.flatMap(({ label_id, rule }) => (rule === "exclude_any" ? [label_id] : [])));
  const both = resolved.find(({ label_id, rule }) => rule !== "exclude_any" && excluded.has(label_id));
  if (both) throw invalid("labels_exclude_any", `the label ${JSON.stringify(both.name)} is included and excluded`);
  return resolved;
}

/** What has a deleted label goes to no further host. */
export const isBroken = (labels: readonly TargetLabel[]): boolean => labels.some(({ label_id }) => label_id === null);

export function scopeOf(labels: readonly TargetLabel[]): Record<LabelRule, readonly number[]> {
  const withRule = (targetRule: LabelRule): number[] =>
    labels.flatMap(({ rule, label_id }) => (rule === targetRule && label_id !== null ? [label_id] : []));
  return {
    include_all: withRule("include_all"),
    include_any: withRule("include_any"),
    exclude_any: withRule("exclude_any"),
  };
}

type ShowTarget = (label: TargetLabel) => ScopeLabel;

/** How these labels are shown: with their present names. */
export async function shownTargets(store: ServerTx, labels: readonly TargetLabel[]): Promise<ShowTarget> {
  const names = await labelNames(
    store,
    labels.flatMap(({ label_id }) => label_id ?? []),
  );
  return ({ label_id, name }) =>
    label_id === null ? { name, broken: true } : { id: label_id, name: names.get(label_id)?.name ?? name };
}

/** The names as configuration as code has them: of a deleted label one that differs from every other label's. */
export const configuredName = ({ name, broken }: ScopeLabel): string => (broken ? deletedLabel(name) : name);

/** The lists of a reply, without empty ones. */
export function targetLists(labels: readonly TargetLabel[], show: ShowTarget) {
  const of = (rule: LabelRule) => labels.filter((label) => label.rule === rule).map(show);
  const [all, any, none] = [of("include_all"), of("include_any"), of("exclude_any")];
  return {
    ...(all.length > 0 ? { labels_include_all: all } : {}),
    ...(any.length > 0 ? { labels_include_any: any } : {}),
    ...(none.length > 0 ? { labels_exclude_any: none } : {}),
  };
}
