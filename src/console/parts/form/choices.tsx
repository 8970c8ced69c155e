import type { ReactElement, ReactNode } from "react";
import type { Form, FormValues } from "./use-form.ts";
import "./choices.css";

interface ChoicesProps {
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  readonly children: ReactNode;
}

/** Check boxes or radio buttons that belong together. */
export function Choices({ legend, hint, error = null, children }: ChoicesProps): ReactElement {
  return (
    <fieldset className="choices">
      <legend>{legend}</legend>
      {children}
      {hint !== undefined && <p className="hint">{hint}</p>}
      {error !== null && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface RadioChoicesProps<Value extends string> {
  readonly legend: string;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export function RadioChoices<Value extends string>(props: RadioChoicesProps<Value>): ReactElement {
  const { legend, options, value, onChange } = props;
  return (
    <Choices legend={legend}>
      {options.map(([option, label]) => (
        <label key={option} className="check">
          <input type="radio" name={legend} checked={value === option} onChange={() => onChange(option)} />
          {label}
        </label>
      ))}
    </Choices>
  );
}

interface CheckListProps<V extends FormValues> {
  readonly form: Form<V>;
  /** A value of the form that is a list. */
  readonly name: keyof V & string;
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly options: readonly { readonly value: string | number; readonly label: string }[];
}

/** Some of many, in the order of the options. */
export function CheckList<V extends FormValues>(props: CheckListProps<V>): ReactElement {
  const { form, name, legend, hint, options } = props;
  const chosen = new Set(form.values[name] as readonly unknown[]);
  const toggle = (value: string | number) => {
    if (!chosen.delete(value)) chosen.add(value);
    form.set(name, options.map((option) => option.value).filter((option) => chosen.has(option)) as V[typeof name]);
  };
  return (
    <Choices legend={legend} error={form.errorOf(name)} {...(hint === undefined ? {} : { hint })}>
      {options.map(({ value, label }) => (
        <label key={value} className="check">
          <input type="checkbox" checked={chosen.has(value)} onChange={() => toggle(value)} />
          {label}
        </label>
      ))}
    </Choices>
  );
}
