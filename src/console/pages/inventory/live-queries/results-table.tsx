import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactElement, useMemo, useRef } from "react";
import { PageLink } from "../../../frame/page-link.tsx";
import type { LiveResults } from "./live-results.ts";

const ROW_PX = 30;
const OVERSCAN_ROWS = 12;
/** Rows whose texts decide how wide a column is. */
const SAMPLE_ROWS = 200;
const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 48;

interface ResultsTableProps {
  readonly results: LiveResults;
  /** Changes with the results. */
  readonly version: number;
}

/** The rows that are kept. Only those on screen are in the document. */
export function ResultsTable({ results, version }: ResultsTableProps): ReactElement {
  const box = useRef<HTMLElement>(null);
  const columns = results.columnNames;
  const rows = useVirtualizer({
    count: results.keptCount,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN_ROWS,
  });
  const items = rows.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = rows.getTotalSize() - (items.at(-1)?.end ?? 0);
  const sample = Math.min(results.keptCount, SAMPLE_ROWS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the results change in place, the sample with their number
  const widths = useMemo(() => widthsOf(results, sample), [results, columns.length, sample, version < 4]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section ref={box} className="table-scroll results" aria-label="Results, table" tabIndex={0}>
      <table aria-label="Results" className="list" aria-rowcount={results.keptCount + 1}>
        <colgroup>
          {widths.map((width, at) => (
            <col key={columns[at - 1] ?? ""} style={{ width: `${width}ch` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Host</th>
            {columns.map((column) => (
              <th key={column} scope="col" title={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space height={above} span={columns.length + 1} />
          {items.map(({ index }) => (
            <Row key={index} results={results} columns={columns} row={index} />
          ))}
          <Space height={below} span={columns.length + 1} />
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  readonly results: LiveResults;
  readonly columns: readonly string[];
  readonly row: number;
}

function Row({ results, columns, row }: RowProps): ReactElement {
  const { id, name } = results.host(row);
  return (
    <tr aria-rowindex={row + 2}>
      <th scope="row">
        <PageLink href={`/hosts/${id}`}>{name}</PageLink>
      </th>
      {columns.map((column) => {
        const text = results.cell(column, row);
        return (
          <td key={column} title={text}>
            {text}
          </td>
        );
      })}
    </tr>
  );
}

/** Stands for the rows that are not in the document. */
const Space = ({ height, span }: { readonly height: number; readonly span: number }) =>
  height <= 0 ? null : (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it contains nothing
    <tr aria-hidden="true" className="space">
      <td colSpan={span} style={{ height }} />
    </tr>
  );

/** Widths in characters, of the host and of each column: fixed, so that nothing moves while one scrolls. */
function widthsOf(results: LiveResults, sample: number): readonly number[] {
  const widthOf = (name: string, textOf: (row: number) => string) => {
    let longest = name.length;
    for (let row = 0; row < sample; row++) longest = Math.max(longest, textOf(row).length);
    return Math.min(MAX_CHARACTERS, Math.max(MIN_CHARACTERS, longest)) + 4;
  };
  return [
    widthOf("Host", (row) => results.host(row).name),
    ...results.columnNames.map((column) => widthOf(column, (row) => results.cell(column, row))),
  ];
}
