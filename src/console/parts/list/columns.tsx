import type { ReactElement } from "react";
import { settings, useSettings } from "../../settings.ts";
import { useUrl } from "../../url.ts";
import { Dialog } from "../dialog.tsx";
import type { AnyListDefinition, Column } from "./definition.ts";

/** The parameter of the URL with the columns of a view. */
export const COLUMNS = "columns";

/** The name of the list in the user's settings. Lists of the same name on other pages have other endpoints. */
const keyOf = ({ view, name, endpoint }: AnyListDefinition): string =>
  view ?? `${endpoint.path.slice(1)} ${name}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");

/** The columns of the URL, or those that the user has chosen for the list, in the order of the definition. */
export function useColumns<Row>(
  definition: AnyListDefinition,
  columns: readonly Column<Row>[],
): readonly [shown: readonly Column<Row>[], choose: (ids: readonly string[]) => void] {
  const { columns: stored = {} } = useSettings();
  const url = useUrl();
  const inUrl = url.get(COLUMNS);
  const chosen = inUrl === null ? stored[keyOf(definition)] : inUrl.split(",");
  // Names of another version, or of another program, say nothing about these columns.
  const ids = chosen?.some((id) => columns.some((column) => column.id === id)) ? chosen : undefined;
  const shown = columns.filter(({ id, isOptional = false }, at) =>
    at === 0 ? true : ids === undefined ? !isOptional : ids.includes(id),
  );
  return [
    shown,
    (next) => {
      if (inUrl === null) settings.change({ columns: { [keyOf(definition)]: [...next] } });
      else url.set({ [COLUMNS]: next.join(",") }, { replace: true });
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
