// To which hosts something goes, by their labels.
import type { ScopeLabel } from "../../../api/hosts/label-scope.ts";

export type IncludeRule = "labels_include_any" | "labels_include_all";

/** The labels as the API shows them. */
export type LabelScope = {
  readonly [K in IncludeRule | "labels_exclude_any"]?: readonly ScopeLabel[] | null | undefined;
};

/** The labels as a form has them. */
export interface ScopeValues {
  readonly rule: "all" | IncludeRule;
  readonly included: readonly string[];
  readonly excluded: readonly string[];
}

export const allHosts: ScopeValues = { rule: "all", included: [], excluded: [] };

const namesIn = (labels: readonly ScopeLabel[] | null | undefined): readonly string[] =>
  (labels ?? []).map(({ name }) => name);

/** In words: "any of Macs, Loaned; none of Lab". Empty: all hosts. */
export const scopeText = (scope: LabelScope): string =>
  (
    [
      ["any of", scope.labels_include_any],
      ["all of", scope.labels_include_all],
      ["none of", scope.labels_exclude_any],
    ] as const
  )
    .flatMap(([words, labels]) => (labels && labels.length > 0 ? [`${words} ${namesIn(labels).join(", ")}`] : []))
    .join("; ");

export function scopeValues(scope: LabelScope): ScopeValues {
  const any = namesIn(scope.labels_include_any);
  const all = namesIn(scope.labels_include_all);
  return {
    rule: any.length > 0 ? "labels_include_any" : all.length > 0 ? "labels_include_all" : "all",
    included: any.length > 0 ? any : all,
    excluded: namesIn(scope.labels_exclude_any),
  };
}

/** The labels for a request; lists that are empty remove the labels that there were. */
export const scopeBody = ({ rule, included, excluded }: ScopeValues) => ({
  labels_include_any: rule === "labels_include_any" ? [...included] : [],
  labels_include_all: rule === "labels_include_all" ? [...included] : [],
  labels_exclude_any: [...excluded],
});
