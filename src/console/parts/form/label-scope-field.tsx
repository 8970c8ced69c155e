import "./label-scope-field.css";
import { type ReactElement, useId, useState } from "react";
import { labelsApi } from "../../../api/hosts/labels.ts";
import { useRead } from "../../api.ts";
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
        <LabelChoice chosen={scope[rule] ?? []} onChange={(names) => form.set(rule, names as V[LabelRule])} />
      )}
      {errors.length > 0 && (
        <p id={`${id}-error`} className="wrong" role="alert">
          {errors.join("; ")}
        </p>
      )}
    </div>
  );
}

interface LabelChoiceProps {
  readonly chosen: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
}

/** So many labels are found without a search. */
const FEW = 12;

function LabelChoice({ chosen, onChange }: LabelChoiceProps): ReactElement {
  const [text, setText] = useState("");
  const { data } = useRead(labelsApi.summary);
  const existing = (data?.labels ?? []).map(({ name }) => name);
  const deleted = data === undefined ? [] : chosen.filter((name) => !existing.includes(name));
  const shown = existing.filter((name) => name.toLowerCase().includes(text.trim().toLowerCase()));
  const toggle = (name: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, name] : chosen.filter((other) => other !== name));
  return (
    <fieldset className="label-choice">
      <legend>Labels</legend>
      {existing.length > FEW && (
        <input
          type="search"
          aria-label="Find labels"
          placeholder="Find labels"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <div className="label-choices">
        {[...deleted, ...shown].map((name) => (
          <label key={name} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ target }) => toggle(name, target.checked)}
            />
            {name}
            {deleted.includes(name) && <span className="quiet"> (deleted)</span>}
          </label>
        ))}
        {shown.length === 0 && data !== undefined && <p className="quiet">No labels match.</p>}
      </div>
    </fieldset>
  );
}
