import { type ReactElement, useId, useRef } from "react";
import type { Form, FormValues } from "../form/use-form.ts";
import { lazyPart } from "../loading/lazy-part.tsx";

const SqlEditor = lazyPart(() => import("./sql-editor.tsx"));

interface SqlFieldProps<V extends FormValues> {
  readonly form: Form<V>;
  readonly name: keyof V & string;
  readonly hint?: string;
  /** An example, shown while nothing is typed. */
  readonly placeholder: string;
}

/** SQL with the tables of the agents beside it. Until the editor is loaded, and without it, a plain text field. */
export function SqlField<V extends FormValues>({ form, name, hint, placeholder }: SqlFieldProps<V>): ReactElement {
  const id = useId();
  /** Whether the user is already typing when the editor is loaded. */
  const isFocused = useRef(false);
  const error = form.errorOf(name);
  const value = String(form.values[name] ?? "");
  const set = (text: string) => form.set(name, text as V[typeof name]);
  return (
    <div className="field">
      <span id={`${id}-label`}>SQL</span>
      <SqlEditor
        labelledBy={`${id}-label`}
        placeholder={placeholder}
        value={value}
        onChange={set}
        onBlur={() => form.leave(name)}
        isInvalid={error !== null}
        isFocused={isFocused.current}
        fallback={
          <textarea
            aria-labelledby={`${id}-label`}
            rows={6}
            spellCheck={false}
            placeholder={placeholder}
            value={value}
            onChange={({ target }) => set(target.value)}
            onFocus={() => {
              isFocused.current = true;
            }}
            onBlur={() => {
              isFocused.current = false;
            }}
          />
        }
      />
      {hint !== undefined && <p className="hint">{hint}</p>}
      {error !== null && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
