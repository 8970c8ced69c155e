import { type ReactElement, useState } from "react";
import { selectorFields } from "../../api/inventory/selector-fields.ts";
import { Combobox } from "./combobox.tsx";

interface SelectorBarProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const MAX_OPTIONS = 12;

/** The selector of hosts, as the command line's `--where`, with completion. Enter applies it. */
export function SelectorBar({ value, onChange }: SelectorBarProps): ReactElement {
  const [text, setText] = useState(value);
  const [applied, setApplied] = useState(value);
  const [cursor, setCursor] = useState(value.length);
  if (value !== applied) {
    setApplied(value);
    setText(value);
  }
  const word = /[\w.]*$/.exec(text.slice(0, cursor))?.[0] ?? "";
  const options = word === "" ? [] : selectorFields.filter((field) => field.startsWith(word) && field !== word);
  return (
    <Combobox
      className="selector"
      label="Selector"
      listLabel="Completions"
      placeholder='status = "online" and team = "Sales"'
      value={text}
      onChange={(next, at) => {
        setText(next);
        setCursor(at);
      }}
      options={options.slice(0, MAX_OPTIONS).map((field) => ({ id: field, content: <code>{field}</code> }))}
      onSelect={(field) => {
        const start = cursor - word.length;
        setText(`${text.slice(0, start)}${field} ${text.slice(cursor)}`);
        setCursor(start + field.length + 1);
      }}
      onEnter={() => onChange(text.trim())}
    />
  );
}
