import { type ReactElement, type ReactNode, useMemo, useState } from "react";
import type { AnyEndpoint } from "../../../api/endpoint.ts";
import type { ListDefinition } from "../../parts/list/definition.ts";
import { List } from "../../parts/list/list-page.tsx";
import { SectionPage } from "./section-page.tsx";
import type { SectionId } from "./sections.ts";

/** A dialog that is open: what it does, and the row that it is about. */
export interface OpenDialog<Kind extends string, Row> {
  readonly kind: Kind;
  /** Null: a new object. */
  readonly row: Row | null;
}

interface CreateButton<Kind extends string> {
  readonly kind: Kind;
  readonly label: string;
  readonly isMain: boolean;
  readonly isShown: boolean;
}

interface ListSectionProps<E extends AnyEndpoint, Row, Kind extends string> {
  readonly id: SectionId;
  /** The buttons beside the heading. */
  readonly buttons: readonly CreateButton<Kind>[];
  /** The list, with buttons in its rows that open dialogs. A function that is declared outside of components. */
  readonly definitionOf: (onSelect: (kind: Kind, row: Row) => void) => ListDefinition<E, Row>;
  readonly dialogOf: (open: OpenDialog<Kind, Row>, close: () => void) => ReactNode;
  /** What is below the list. */
  readonly children?: ReactNode;
}

/** A section that is a list of objects, with dialogs that create, change and delete them. */
export function ListSection<E extends AnyEndpoint, Row, Kind extends string>(
  props: ListSectionProps<E, Row, Kind>,
): ReactElement {
  const { id, buttons, definitionOf, dialogOf, children } = props;
  const [open, setOpen] = useState<OpenDialog<Kind, Row> | null>(null);
  const definition = useMemo(() => definitionOf((kind, row) => setOpen({ kind, row })), [definitionOf]);
  return (
    <SectionPage
      id={id}
      actions={buttons
        .filter(({ isShown }) => isShown)
        .map(({ kind, label, isMain }) => (
          <button
            key={kind}
            type="button"
            className={isMain ? undefined : "plain"}
            aria-haspopup="dialog"
            onClick={() => setOpen({ kind, row: null })}
          >
            {label}
          </button>
        ))}
    >
      <List definition={definition} />
      {children}
      {open !== null && dialogOf(open, () => setOpen(null))}
    </SectionPage>
  );
}
