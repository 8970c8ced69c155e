import { type ReactElement, useId } from "react";
import { LabelChecks } from "../label-scope/label-checks.tsx";
import { allHosts, type LabelRule, type LabelScope, labelRuleNames, labelRules, ruleOf } from "./label-scope.ts";
import type { Form, FormValues } from "./use-form.ts";

interface LabelScopeFieldProps<V extends FormValues & LabelScope> {
  readonly form: Form<V>;
  /** The rules that can be chosen. */
  readonly rules?: readonly LabelRule[];
}

/** All hosts, or those that have some labels. */
export function LabelScopeField<V extends FormValues & LabelScope>({
  form,
  rules = labelRuleNames,
}: LabelScopeFieldProps<V>): ReactElement {
  const id = useId();
  const scope: LabelScope = form.values;
  const rule = ruleOf(scope);
  const errors = labelRuleNames.flatMap((name) => form.errorOf(name) ?? []);
  const set = (next: LabelScope) => {
    for (const name of labelRuleNames) form.set(name, next[name] as V[typeof name]);
  };
  return (
    <div className="field">
      <label htmlFor={id}>Hosts</label>
      <select
        id={id}
        aria-describedby={errors.length === 0 ? undefined : `${id}-error`}
        value={rule ?? ""}
        onChange={({ target }) =>
          set(target.value === "" ? allHosts : { ...allHosts, [target.value]: rule === null ? [] : scope[rule] })
        }
      >
        <option value="">All hosts</option>
        {rules.map((name) => (
          <option key={name} value={name}>
            {labelRules[name]}
          </option>
        ))}
      </select>
      {rule !== null && (
        <LabelChecks
          legend="Labels"
          value={scope[rule] ?? []}
          onChange={(names) => form.set(rule, names as V[LabelRule])}
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
