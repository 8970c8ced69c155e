// Label lists of profiles and software, as requests give them, as rows keep them, and as replies show them.
import type { GivenLabels, ProfileLabel } from "../../api/profiles.ts";
import { type Context, isPremium } from "../core/context.ts";
import { invalid, premiumRequired } from "../core/errors.ts";
import type { ServerTx } from "../core/tables.ts";
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
  given: GivenLabels,
  kind: "profile" | "software",
): Promise<ResolvedLabel[] | null> {
  const lists: readonly [LabelRule, string, string[] | undefined][] = [
    ["include_all", "labels", given.labels],
    ["include_all", "labels_include_all", given.labels_include_all],
    ["include_any", "labels_include_any", given.labels_include_any],
    ["exclude_any", "labels_exclude_any", given.labels_exclude_any],
  ];
  const used = lists.filter(([, , names]) => names !== undefined && names.length > 0);
  if (used.length > 0 && !isPremium(ctx)) throw premiumRequired();
  const alternatives = kind === "profile" ? used.filter(([rule]) => rule !== "exclude_any") : used;
  if (alternatives.length > 1)
    throw invalid(
      alternatives[1]![1],
      `only one of ${alternatives.map(([, field]) => field).join(" and ")} can be given for ${kind === "profile" ? "a profile" : "software"}`,
    );
  const found: ResolvedLabel[] = [];
  for (const [rule, field, names] of used)
    for (const { id, name } of await resolveLabelNames(ctx, names!, kind, field))
      found.push({ label_id: id, name, rule });
  const excluded = new Set(found.flatMap(({ label_id, rule }) => (rule === "exclude_any" ? [label_id] : [])));
  const both = found.find(({ label_id, rule }) => rule !== "exclude_any" && excluded.has(label_id));
  if (both) throw invalid("labels_exclude_any", `the label ${JSON.stringify(both.name)} is included and excluded`);
  return lists.every(([, , names]) => names === undefined) ? null : found;
}

/** What has a deleted label goes to no further host. */
export const isBroken = (labels: readonly TargetLabel[]): boolean => labels.some(({ label_id }) => label_id === null);

export function scopeOf(labels: readonly TargetLabel[]): Record<LabelRule, readonly number[]> {
  const withRule = (wanted: LabelRule): number[] =>
    labels.flatMap(({ rule, label_id }) => (rule === wanted && label_id !== null ? [label_id] : []));
  return {
    include_all: withRule("include_all"),
    include_any: withRule("include_any"),
    exclude_any: withRule("exclude_any"),
  };
}

export type ShowTarget = (label: TargetLabel) => ProfileLabel;

/** How these labels are shown: with their present names. */
export async function shownTargets(store: ServerTx, labels: readonly TargetLabel[]): Promise<ShowTarget> {
  const names = await labelNames(
    store,
    labels.flatMap(({ label_id }) => label_id ?? []),
  );
  return ({ label_id, name }) =>
    label_id === null ? { name, broken: true } : { id: label_id, name: names.get(label_id)?.name ?? name };
}

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
