import { type ReactElement, useState } from "react";
import { Dialog } from "../dialog.tsx";
import type { Column } from "./definition.ts";

const stored = (list: string): string => `svc-columns ${list}`;

/** The columns that the user has chosen for the list, in the order of the definition. */
export function useColumns<Row>(
  list: string,
  columns: readonly Column<Row>[],
): readonly [shown: readonly Column<Row>[], choose: (ids: readonly string[]) => void] {
  const [ids, setIds] = useState<readonly string[] | null>(() => {
    const text = localStorage.getItem(stored(list));
    return text === null ? null : text.split(",");
  });
  const shown = columns.filter(({ id, isOptional = false }, at) =>
    at === 0 ? true : ids === null ? !isOptional : ids.includes(id),
  );
  return [
    shown,
    (next) => {
      localStorage.setItem(stored(list), next.join(","));
      setIds(next);
    },
  ];
}

interface ColumnsDialogProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly shown: readonly Column<Row>[];
  readonly onChange: (ids: readonly string[]) => void;
  readonly onClose: () => void;
}

export function ColumnsDialog<Row>({ columns, shown, onChange, onClose }: ColumnsDialogProps<Row>): ReactElement {
  const ids = shown.map(({ id }) => id);
  return (
    <Dialog title="Columns" onClose={onClose}>
      <ul className="plain-list">
        {columns.map(({ id, name }, at) => (
          <li key={id}>
            <label className="check">
              <input
                type="checkbox"
                checked={ids.includes(id)}
                disabled={at === 0}
                onChange={({ target }) => onChange(target.checked ? [...ids, id] : ids.filter((other) => other !== id))}
              />
              {name}
            </label>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
