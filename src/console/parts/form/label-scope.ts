// The labels that limit profiles and software to some hosts, as values of a form: one list at most, under the name that
// it has in requests.
import type { ScopeLabel } from "../../../api/hosts/label-scope.ts";

export const labelRules = {
  labels_include_any: "Hosts with any of these labels",
  labels_include_all: "Hosts with all of these labels",
  labels_exclude_any: "Hosts with none of these labels",
} as const;
export type LabelRule = keyof typeof labelRules;
export const labelRuleNames = Object.keys(labelRules) as LabelRule[];

/** Names of labels. Null: this is not the rule. All null: all hosts. */
export type LabelScope = { readonly [R in LabelRule]: readonly string[] | null };

export const allHosts: LabelScope = { labels_include_any: null, labels_include_all: null, labels_exclude_any: null };

type ScopeLists = { readonly [R in LabelRule]?: readonly ScopeLabel[] | null | undefined };

export const ruleOf = (scope: LabelScope): LabelRule | null =>
  labelRuleNames.find((rule) => scope[rule] !== null) ?? null;

export function labelScopeOf(lists: ScopeLists): LabelScope {
  const rule = labelRuleNames.find((name) => (lists[name] ?? []).length > 0);
  return rule === undefined ? allHosts : { ...allHosts, [rule]: (lists[rule] ?? []).map(({ name }) => name) };
}

/** The list that takes the place of the present ones. An empty list means all hosts, whatever its rule. */
export function labelScopeBody(scope: LabelScope): { [R in LabelRule]?: string[] } {
  const rule = ruleOf(scope);
  return rule === null ? { labels_include_any: [] } : { [rule]: [...(scope[rule] ?? [])] };
}

/** "Hosts with any of these labels: A, B". Labels that were deleted are named as such. */
export function labelScopeText(lists: ScopeLists): string {
  const rule = ruleOf(labelScopeOf(lists));
  if (rule === null) return "All hosts";
  const names = (lists[rule] ?? []).map(({ name, broken }) => (broken === true ? `${name} (deleted)` : name));
  return `${labelRules[rule]}: ${names.join(", ")}`;
}
