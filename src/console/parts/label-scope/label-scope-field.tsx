import { type ReactElement, useId } from "react";
import type { Form, FormValues } from "../form/use-form.ts";
import { LabelChecks } from "./label-checks.tsx";
import { type LabelRule, type LabelScope, labelRuleNames, labelRules, ruleOf } from "./scope.ts";

const including = ["labels_include_any", "labels_include_all"] as const;

/** Which lists the API takes together. */
const modes = {
  /** Policies and software: one list, which includes hosts or excludes them. */
  one: { rules: labelRuleNames, hasExceptions: false },
  /** Queries: one list, which includes hosts. */
  including: { rules: including, hasExceptions: false },
  /** Profiles: one list that includes hosts, and one that excludes some of them. */
  excepting: { rules: including, hasExceptions: true },
} as const;

interface LabelScopeFieldProps<V extends FormValues & LabelScope> {
  readonly form: Form<V>;
  readonly mode?: keyof typeof modes;
}

/** All hosts, or those that have some labels. */
export function LabelScopeField<V extends FormValues & LabelScope>({
  form,
  mode = "one",
}: LabelScopeFieldProps<V>): ReactElement {
  const id = useId();
  const { hasExceptions } = modes[mode];
  const rules: readonly LabelRule[] = modes[mode].rules;
  const scope: LabelScope = form.values;
  const rule = ruleOf(scope, rules);
  const errors = labelRuleNames.flatMap((name) => form.errorOf(name) ?? []);
  const set = (name: LabelRule, labels: readonly string[] | null) => form.set(name, labels as V[LabelRule]);
  const choose = (next: string) => {
    const labels = rule === null ? [] : scope[rule];
    for (const name of rules) set(name, name === next ? labels : null);
  };
  return (
    <div className="field">
      <label htmlFor={id}>Hosts</label>
      <select
        id={id}
        aria-describedby={errors.length === 0 ? undefined : `${id}-error`}
        value={rule ?? ""}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">All hosts</option>
        {rules.map((name) => (
          <option key={name} value={name}>
            {labelRules[name]}
          </option>
        ))}
      </select>
      {rule !== null && (
        <LabelChecks legend="Labels" value={scope[rule] ?? []} onChange={(names) => set(rule, names)} />
      )}
      {hasExceptions && (
        <LabelChecks
          legend="Except hosts with any of these labels"
          value={scope.labels_exclude_any ?? []}
          onChange={(names) => set("labels_exclude_any", names.length === 0 ? null : names)}
        />
      )}
      {errors.length > 0 && (
        <p id={`${id}-error`} className="wrong" role="alert">
          {errors.join("; ")}
        </p>
      )}
    </div>
  );
}
