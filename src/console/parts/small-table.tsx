import type { ReactElement, ReactNode } from "react";

export interface SmallColumn<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
}

interface SmallTableProps<Row> {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** The first is the header of its row. */
  readonly columns: readonly SmallColumn<Row>[];
  /** Shown in place of a table without rows. */
  readonly empty: ReactNode;
}

/** A table that is a part of a page, with all its rows: no order, no pages. */
export function SmallTable<Row>({ name, rows, keyOf, columns, empty }: SmallTableProps<Row>): ReactElement {
  if (rows.length === 0) return <p className="quiet">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section className="table-scroll" aria-label={`${name}, table`} tabIndex={0}>
      <table aria-label={name} className="list">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={column.isNumber ? "number" : undefined}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name: column, cell, isNumber }, at) =>
                at === 0 ? (
                  <th key={column} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={column} className={isNumber ? "number" : undefined}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
