import { type ReactElement, useId } from "react";
import "./inline-select.css";

interface InlineSelectProps<Value extends string | number> {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice that has an effect at once, in one line with its label. */
export function InlineSelect<Value extends string | number>(props: InlineSelectProps<Value>): ReactElement {
  const { label, options, value, onChange } = props;
  const id = useId();
  return (
    <p className="inline-select">
      <label htmlFor={id}>{label}</label>{" "}
      <select
        id={id}
        value={value}
        onChange={({ target }) => {
          const chosen = options.find((option) => String(option.value) === target.value);
          if (chosen !== undefined) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </p>
  );
}
