import { type ReactElement, type ReactNode, useId } from "react";
import type { Form as FormState, FormValues } from "./use-form.ts";

interface FormProps<V extends FormValues> {
  readonly form: FormState<V>;
  /** The verb on the button that sends the form: "Save", "Create label". */
  readonly submit: string;
  readonly onCancel?: () => void;
  readonly isDangerous?: boolean;
  /** Further buttons, before the one that sends the form. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}

export function Form<V extends FormValues>({
  form,
  submit,
  onCancel,
  isDangerous,
  beside,
  children,
}: FormProps<V>): ReactElement {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        form.submit();
      }}
    >
      {form.general.length > 0 && (
        <div role="alert" className="message bad">
          {form.general.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      {children}
      <div className="dialog-buttons">
        {onCancel !== undefined && (
          <button type="button" className="plain" onClick={onCancel}>
            Cancel
          </button>
        )}
        {beside}
        <button type="submit" className={isDangerous ? "danger" : undefined} aria-disabled={form.isSending}>
          {submit}
        </button>
      </div>
    </form>
  );
}

interface FieldProps<V extends FormValues> {
  readonly form: FormState<V>;
  readonly name: keyof V & string;
  readonly label: string;
  readonly hint?: ReactNode;
}

interface ControlProps {
  readonly id: string;
  readonly "aria-invalid": true | undefined;
  readonly "aria-describedby": string | undefined;
  readonly onBlur: () => void;
}

/** A control with its label, its hint, and the server's error about it. */
function Field<V extends FormValues>(
  props: FieldProps<V> & { readonly control: (props: ControlProps) => ReactNode },
): ReactElement {
  const { form, name, label, hint, control } = props;
  const id = useId();
  const error = form.errorOf(name);
  const other = form.otherValueOf(name);
  const describedBy = [
    hint === undefined ? null : `${id}-hint`,
    other === undefined ? null : `${id}-other`,
    error === null ? null : `${id}-error`,
  ]
    .filter(Boolean)
    .join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {control({
        id,
        "aria-invalid": error === null ? undefined : true,
        "aria-describedby": describedBy || undefined,
        onBlur: () => form.leave(name),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
      {other !== undefined && (
        <p id={`${id}-other`} className="hint" role="status">
          Somebody else has changed this meanwhile, to: {other === "" || other === null ? "nothing" : String(other)}
        </p>
      )}
      {error !== null && (
        <p id={`${id}-error`} className="wrong" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps<V extends FormValues> extends FieldProps<V> {
  readonly type?: "text" | "email" | "password" | "url" | "number" | "date" | "datetime-local";
  readonly autoComplete?: string;
  readonly placeholder?: string;
}

/** The value of a number field is a number, or null if it is empty. */
export function TextField<V extends FormValues>({
  type = "text",
  autoComplete,
  placeholder,
  ...field
}: TextFieldProps<V>) {
  const { form, name } = field;
  return (
    <Field
      {...field}
      control={(control) => (
        <input
          {...control}
          type={type}
          autoComplete={autoComplete ?? "off"}
          placeholder={placeholder}
          value={String(form.values[name] ?? "")}
          onChange={({ target }) =>
            form.set(
              name,
              (type === "number"
                ? target.value === ""
                  ? null
                  : Number(target.value)
                : target.value) as V[typeof name],
            )
          }
        />
      )}
    />
  );
}

export function TextAreaField<V extends FormValues>({
  rows = 4,
  ...field
}: FieldProps<V> & { readonly rows?: number }) {
  const { form, name } = field;
  return (
    <Field
      {...field}
      control={(control) => (
        <textarea
          {...control}
          rows={rows}
          spellCheck={false}
          value={String(form.values[name] ?? "")}
          onChange={({ target }) => form.set(name, target.value as V[typeof name])}
        />
      )}
    />
  );
}

interface SelectFieldProps<V extends FormValues> extends FieldProps<V> {
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function SelectField<V extends FormValues>({ options, ...field }: SelectFieldProps<V>) {
  const { form, name } = field;
  return (
    <Field
      {...field}
      control={(control) => (
        <select
          {...control}
          value={String(form.values[name] ?? "")}
          onChange={({ target }) => form.set(name, target.value as V[typeof name])}
        >
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    />
  );
}

export function CheckField<V extends FormValues>({ form, name, label, hint }: FieldProps<V>): ReactElement {
  const id = useId();
  const error = form.errorOf(name);
  return (
    <div className="field check-field">
      <label className="check">
        <input
          type="checkbox"
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          checked={form.values[name] === true}
          onChange={({ target }) => form.set(name, target.checked as V[typeof name])}
        />
        {label}
      </label>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
      {error !== null && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** A file that is sent with the form. The value is a `File`, or null. */
export function FileField<V extends FormValues>({ accept, ...field }: FieldProps<V> & { readonly accept?: string }) {
  const { form, name } = field;
  return (
    <Field
      {...field}
      control={(control) => (
        <input
          {...control}
          type="file"
          accept={accept}
          onChange={({ target }) => form.set(name, (target.files?.[0] ?? null) as V[typeof name])}
        />
      )}
    />
  );
}
