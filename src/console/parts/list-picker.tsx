import { type ReactElement, useState } from "react";
import { Combobox } from "./combobox.tsx";
import { Dialog } from "./dialog.tsx";

interface ListPickerProps {
  readonly title: string;
  readonly options: readonly { readonly id: string; readonly name: string }[];
  readonly selected?: string;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}

const MAX_SHOWN = 200;

/** A dialog in which one of many options is found by typing a part of its name. */
export function ListPicker({ title, options, selected, onSelect, onClose }: ListPickerProps): ReactElement {
  const [text, setText] = useState("");
  const matches = options.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Dialog title={title} onClose={onClose}>
      <Combobox
        label={`Find: ${title}`}
        listLabel={title}
        value={text}
        onChange={setText}
        isAlwaysOpen
        autoFocus
        options={matches.slice(0, MAX_SHOWN).map(({ id, name }) => ({
          id,
          content: (
            <>
              {name}
              {id === selected && <span className="quiet"> (selected)</span>}
            </>
          ),
        }))}
        onSelect={onSelect}
      />
      {matches.length === 0 && <p className="quiet">Nothing has this name.</p>}
    </Dialog>
  );
}
