import { type ReactElement, useState } from "react";
import type { LabelItem } from "../../../../api/hosts/labels.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";

export interface LabelChange {
  readonly add: readonly number[];
  readonly remove: readonly number[];
}

interface LabelChoiceProps {
  readonly labels: readonly LabelItem[];
  readonly change: LabelChange;
  readonly onChange: (change: LabelChange) => void;
}

/** More labels than this can be searched. */
const MANY = 8;
const MAX_SHOWN = 100;

/** Manual labels, of which some are added and others removed. */
export function LabelChoice({ labels, change, onChange }: LabelChoiceProps): ReactElement {
  const [text, setText] = useState("");
  if (labels.length === 0)
    return (
      <p>
        There is no manual label yet: the page <PageLink href="/labels">Labels</PageLink> creates one. Labels of other
        kinds choose their hosts by themselves.
      </p>
    );
  const isChosen = ({ id }: LabelItem) => change.add.includes(id) || change.remove.includes(id);
  const matches = labels.filter(
    (label) => isChosen(label) || label.name.toLowerCase().includes(text.trim().toLowerCase()),
  );
  const toggle = (list: keyof LabelChange, id: number, on: boolean) => {
    const without = {
      add: change.add.filter((other) => other !== id),
      remove: change.remove.filter((other) => other !== id),
    };
    onChange(on ? { ...without, [list]: [...without[list], id] } : without);
  };
  const box = (list: keyof LabelChange, { id, name }: LabelItem) => (
    <input
      type="checkbox"
      aria-label={`${list === "add" ? "Add" : "Remove"} ${name}`}
      checked={change[list].includes(id)}
      onChange={({ target }) => toggle(list, id, target.checked)}
    />
  );
  return (
    <>
      {labels.length > MANY && (
        <label className="field">
          Find a label
          <input value={text} autoComplete="off" onChange={({ target }) => setText(target.value)} />
        </label>
      )}
      <div className="label-choice">
        <SmallTable
          name="Labels"
          rows={matches.slice(0, MAX_SHOWN)}
          keyOf={({ id }) => id}
          columns={[
            { name: "Label", cell: ({ name }) => name },
            { name: "Add", cell: (label) => box("add", label) },
            { name: "Remove", cell: (label) => box("remove", label) },
          ]}
          empty="No label has this name."
        />
      </div>
      {matches.length > MAX_SHOWN && <p className="hint">Type a part of the name to find others.</p>}
    </>
  );
}
