import { type ReactElement, type ReactNode, useRef, useState } from "react";
import { PageLink } from "../../frame/page-link.tsx";
import { useShortcut } from "../../frame/shortcuts.ts";
import type { Column } from "./definition.ts";
import type { Order } from "./list-state.ts";

interface TableProps<Row> {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string | number;
  readonly nameOf: (row: Row) => string;
  readonly hrefOf?: ((row: Row) => string) | undefined;
  readonly order: Order | null;
  readonly onOrder: (order: Order) => void;
  /** Absent if rows cannot be selected. */
  readonly selection?: {
    readonly has: (key: string | number) => boolean;
    readonly toggle: (row: Row, isRange: boolean) => void;
    readonly togglePage: (on: boolean) => void;
  };
  /** The key of the row whose details are open. */
  readonly panel?: string | null;
  /** Opens the details of the row beside the list. Absent if there are none. */
  readonly onOpen?: (row: Row) => void;
  /** Whether these are the rows before, while others load. */
  readonly isOutdated?: boolean;
}

export function Table<Row>(props: TableProps<Row>): ReactElement {
  const { name, rows, columns, keyOf, nameOf, selection, order, onOrder, isOutdated = false } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const move = useRowKeys(body, rows, { toggle: selection?.toggle, open: props.onOpen });
  const isAllSelected = rows.length > 0 && selection !== undefined && rows.every((row) => selection.has(keyOf(row)));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section className="table-scroll" aria-label={`${name}, table`} tabIndex={0}>
      <table aria-label={name} className={isOutdated ? "list outdated" : "list"} aria-busy={isOutdated}>
        <thead>
          <tr>
            {selection !== undefined && (
              <th scope="col" className="select">
                <input
                  type="checkbox"
                  aria-label="Select all on this page"
                  checked={isAllSelected}
                  onChange={({ target }) => selection.togglePage(target.checked)}
                />
              </th>
            )}
            {props.onOpen !== undefined && (
              <th scope="col" className="select">
                <span className="hidden">Details</span>
              </th>
            )}
            {columns.map((column) => (
              <ColumnHeader key={column.id} column={column} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, at) => (
            <tr
              key={keyOf(row)}
              aria-selected={selection?.has(keyOf(row))}
              className={at === move.at || props.panel === String(keyOf(row)) ? "current" : undefined}
            >
              {selection !== undefined && (
                <td className="select">
                  <input
                    type="checkbox"
                    aria-label={`Select ${nameOf(row)}`}
                    checked={selection.has(keyOf(row))}
                    onChange={({ nativeEvent }) =>
                      selection.toggle(row, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
                    }
                  />
                </td>
              )}
              {props.onOpen !== undefined && (
                <td className="select">
                  <button
                    type="button"
                    className="plain open-details"
                    aria-label={`Details of ${nameOf(row)}`}
                    aria-pressed={props.panel === String(keyOf(row))}
                    onClick={() => props.onOpen?.(row)}
                  >
                    ›
                  </button>
                </td>
              )}
              {columns.map((column, index) => (
                <Cell
                  key={column.id}
                  column={column}
                  isHeader={index === 0}
                  href={index === 0 ? props.hrefOf?.(row) : undefined}
                >
                  {column.cell(row)}
                </Cell>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface ColumnHeaderProps<Row> {
  readonly column: Column<Row>;
  readonly order: Order | null;
  readonly onOrder: (order: Order) => void;
}

function ColumnHeader<Row>({ column, order, onOrder }: ColumnHeaderProps<Row>): ReactElement {
  const { name, order: key, isNumber = false } = column;
  const className = isNumber ? "number" : undefined;
  if (key === undefined)
    return (
      <th scope="col" className={className}>
        {name}
      </th>
    );
  const isOrdered = order?.key === key;
  const sort = !isOrdered ? "none" : order.direction === "asc" ? "ascending" : "descending";
  const next = isOrdered && order.direction === "asc" ? "desc" : isOrdered ? "asc" : isNumber ? "desc" : "asc";
  return (
    <th scope="col" aria-sort={sort} className={className}>
      <button type="button" className="sort" onClick={() => onOrder({ key, direction: next })}>
        {name}
      </button>
    </th>
  );
}

interface CellProps {
  readonly column: { readonly isNumber?: boolean };
  readonly isHeader: boolean;
  readonly href: string | undefined;
  readonly children: ReactNode;
}

function Cell({ column, isHeader, href, children }: CellProps): ReactElement {
  if (isHeader)
    return <th scope="row">{href === undefined ? children : <PageLink href={href}>{children}</PageLink>}</th>;
  return <td className={column.isNumber ? "number" : undefined}>{children}</td>;
}

interface RowActions<Row> {
  readonly toggle: ((row: Row, isRange: boolean) => void) | undefined;
  readonly open: ((row: Row) => void) | undefined;
}

/** j and k move between rows, x selects; Shift extends the selection; o opens the details. */
function useRowKeys<Row>(
  body: React.RefObject<HTMLTableSectionElement | null>,
  rows: readonly Row[],
  { toggle, open }: RowActions<Row>,
): { readonly at: number } {
  const [at, setAt] = useState(-1);
  const go = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + step));
    setAt(next);
    const row = body.current?.rows[next];
    // The row's name first, so that Enter opens it.
    (row?.querySelector<HTMLElement>("th a, th button") ?? row?.querySelector<HTMLElement>("a, input"))?.focus();
  };
  const select = (isRange: boolean) => {
    const row = rows[at];
    if (row !== undefined) toggle?.(row, isRange);
  };
  useShortcut("j", "Next row", () => go(1));
  useShortcut("k", "Previous row", () => go(-1));
  useShortcut("x", "Select the row", () => select(false), toggle !== undefined);
  useShortcut("X", "Select up to the row", () => select(true), toggle !== undefined);
  useShortcut("o", "Open the details of the row", () => rows[at] !== undefined && open?.(rows[at]), open !== undefined);
  return { at };
}
