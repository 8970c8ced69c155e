// To which hosts something goes, by their labels: as values of a form, under the names that they have in requests.
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

/** The labels as the API shows them. */
type ScopeLists = { readonly [R in LabelRule]?: readonly ScopeLabel[] | null | undefined };

export const ruleOf = (scope: LabelScope, rules: readonly LabelRule[] = labelRuleNames): LabelRule | null =>
  rules.find((rule) => scope[rule] !== null) ?? null;

export function labelScopeOf(lists: ScopeLists): LabelScope {
  const names = (labels: readonly ScopeLabel[] | null | undefined) =>
    labels && labels.length > 0 ? labels.map(({ name }) => name) : null;
  return {
    labels_include_any: names(lists.labels_include_any),
    labels_include_all: names(lists.labels_include_all),
    labels_exclude_any: names(lists.labels_exclude_any),
  };
}

/** The lists that take the place of the present ones. An empty list alone means all hosts, whatever its rule. */
export function labelScopeBody(scope: LabelScope): { [R in LabelRule]?: string[] } {
  const lists = labelRuleNames.flatMap((rule) => (scope[rule] === null ? [] : [[rule, [...scope[rule]]] as const]));
  return lists.length === 0 ? { labels_include_any: [] } : Object.fromEntries(lists);
}

/** In words: "any of Macs, Loaned (deleted); none of Lab". Empty: all hosts. */
export const scopeText = (scope: ScopeLists): string =>
  (
    [
      ["any of", scope.labels_include_any],
      ["all of", scope.labels_include_all],
      ["none of", scope.labels_exclude_any],
    ] as const
  )
    .flatMap(([words, labels]) => (labels && labels.length > 0 ? [`${words} ${labels.map(nameIn).join(", ")}`] : []))
    .join("; ");

const nameIn = ({ name, broken }: ScopeLabel): string => (broken === true ? `${name} (deleted)` : name);
