import { type ReactElement, useState } from "react";
import { Combobox } from "../../../parts/combobox.tsx";

export interface PickerOption {
  readonly id: string;
  readonly name: string;
  readonly details?: string;
}

interface OptionPickerProps {
  readonly label: string;
  readonly options: readonly PickerOption[];
  readonly onSelect: (id: string) => void;
  /** What is said if there is nothing to choose. */
  readonly empty: string;
}

const MAX_SHOWN = 200;

/** A list in a dialog, in which one of many things is found by a part of its name. */
export function OptionPicker({ label, options, onSelect, empty }: OptionPickerProps): ReactElement {
  const [text, setText] = useState("");
  const sought = text.trim().toLowerCase();
  const matches = options.filter(({ name }) => name.toLowerCase().includes(sought));
  if (options.length === 0) return <p className="quiet">{empty}</p>;
  return (
    <>
      <Combobox
        label={`Find: ${label}`}
        listLabel={label}
        placeholder="Find by name"
        value={text}
        onChange={setText}
        isAlwaysOpen
        options={matches.slice(0, MAX_SHOWN).map(({ id, name, details }) => ({
          id,
          content: (
            <>
              {name} {details !== undefined && <span className="quiet">{details}</span>}
            </>
          ),
        }))}
        onSelect={onSelect}
      />
      {matches.length === 0 && <p className="quiet">Nothing has this name.</p>}
    </>
  );
}
