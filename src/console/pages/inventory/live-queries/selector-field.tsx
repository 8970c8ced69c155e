import { type ReactElement, useId, useState } from "react";
import { Combobox } from "../../../parts/combobox.tsx";
import { completed, completionLine, type TypedSelector, useSelectorCheck } from "../../../parts/selector-bar.tsx";

interface SelectorFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly teamId: number | null;
}

const MAX_OPTIONS = 12;

/** The selector of a form: what is typed counts at once, without Enter. */
export function SelectorField({ value, onChange, teamId }: SelectorFieldProps): ReactElement {
  const id = useId();
  const [typed, setTyped] = useState<TypedSelector>({ text: value, cursor: value.length });
  const check = useSelectorCheck(typed, teamId);
  const completions = (check?.completions ?? []).slice(0, MAX_OPTIONS);
  const error = check?.error ?? null;
  // What is wrong at the cursor may just not be finished.
  const isWrong = error !== null && error.position + error.length < typed.cursor;
  const set = (next: TypedSelector) => {
    setTyped(next);
    onChange(next.text);
  };
  return (
    <div className="selector">
      <Combobox
        label="Selector"
        listLabel="Completions"
        placeholder='platform = "darwin" and status = "online"'
        value={typed.text}
        isInvalid={isWrong}
        {...(isWrong ? { describedBy: `${id}-error` } : {})}
        onChange={(text, cursor) => set({ text, cursor })}
        options={completions.map((completion, at) => ({ id: String(at), content: completionLine(completion) }))}
        onSelect={(at) => set(completed(typed.text, completions[Number(at)]!))}
      />
      {isWrong && (
        <p id={`${id}-error`} className="wrong">
          {error.message}
        </p>
      )}
    </div>
  );
}
