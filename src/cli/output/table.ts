// Renders rows as a table: aligned, escaped for a terminal, and truncated to fit it.

import { printable } from "../../text/printable.ts";
import { valueAt } from "./fields.ts";
import { cell } from "./text.ts";

export interface Column {
  /** Dotted path into the row. */
  readonly key: string;
  readonly header?: string;
  /** The value as shown in the table; the other formats print the value itself. */
  readonly text?: (value: unknown, row: unknown) => string;
  /** Colours the finished cell, depending on its value. */
  readonly paint?: (text: string, value: unknown, row: unknown) => string;
  /** Minimum width when truncated (10). Columns that identify a row need more. */
  readonly least?: number;
  /** Order in which columns are dropped: the highest number first, and among equals the last column first (0). */
  readonly spare?: number;
  /** Never truncated: values that people copy, above all secrets. */
  readonly whole?: boolean;
  /** Continued on the next lines instead of truncated: sentences. */
  readonly wrap?: boolean;
  /** Chosen by the user: never dropped, and continued on the next lines instead of truncated. */
  readonly required?: boolean;
  /** A text of several lines: of a single object it is printed below the other fields, with its line breaks. */
  readonly block?: boolean;
}

export interface TableOptions {
  readonly header: boolean;
  readonly bold: (text: string) => string;
  readonly width: number | null;
  /** Called with the headers of the dropped columns. */
  readonly leftOut?: (headers: readonly string[]) => void;
  /** Called if the rows are wider than the terminal, because all their columns are required. */
  readonly tooWide?: () => void;
}

const gap = "  ";
/** Minimum width of a truncated column. */
const MIN_COLUMN_WIDTH = 10;

export function shown({ key, text }: Column, row: unknown): string {
  const value = valueAt(row, key);
  return printable(text ? text(value, row) : cell(value));
}

const nothing = Object.fromEntries(
  ["top", "bottom", "left", "right"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat("mid", "mid-mid")
    .map((name) => [name, ""]),
);

/**
 * Renders the table. To keep a row on one line of `width` columns, the widest columns are truncated first, then
 * columns are dropped.
 */
export async function table(
  rows: readonly unknown[],
  all: readonly Column[],
  { header, bold, width, leftOut, tooWide }: TableOptions,
): Promise<string> {
  if (rows.length === 0) return "";
  const cells = rows.map((row) => all.map((column) => shown(column, row)));
  const natural = all.map((column, at) =>
    Math.max(
      header ? [...headOf(column)].length : 0,
      most(cells, (line) => [...line[at]!].length),
    ),
  );
  // A column without values is the first to go.
  const isEmpty = (at: number) => cells.every((line) => line[at] === "");
  const columns = all.map((column, at) => (isEmpty(at) ? { ...column, spare: Number.POSITIVE_INFINITY } : column));
  const fitting = fitColumns(columns, natural, width);
  const missing = all.filter((_, at) => !fitting.some((column) => column.at === at));
  if (missing.length > 0) leftOut?.(missing.map(headOf));
  if (width !== null && widthOf(fitting) > width) tooWide?.();
  const linesOf = (text: (at: number) => string, paint: (text: string, column: Column) => string): Cell[][] => {
    const parts = fitting.map(({ at, width }) =>
      isWrapped(all[at]!) ? wrapped(text(at), width) : [cut(text(at), width)],
    );
    return Array.from({ length: most(parts, (lines) => lines.length) }, (_, number) =>
      fitting.map(({ at }, place) => {
        const part = parts[place]![number];
        return part === undefined ? { shown: "", text: "" } : { shown: paint(part, all[at]!), text: part };
      }),
    );
  };
  const lines = [
    ...(header ? linesOf((at) => headOf(all[at]!), bold) : []),
    ...cells.flatMap((texts, index) =>
      linesOf(
        (at) => texts[at]!,
        (text, { paint, key }) => (paint ? paint(text, valueAt(rows[index], key), rows[index]) : text),
      ),
    ),
  ];
  const narrow = lines.every((cells) => cells.every(({ text }) => onePlaceEach.test(text)));
  const text = narrow ? aligned(lines) : await alignedByWidth(lines);
  return `${text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

const isWrapped = ({ wrap, required, whole }: Column): boolean =>
  wrap === true || (required === true && whole !== true);

/** The width of a row of these columns. */
export const widthOf = (fitting: readonly { readonly width: number }[]): number =>
  sum(fitting.map(({ width }) => width)) + gap.length * (fitting.length - 1);

const headOf = ({ header, key }: Column): string => (header ?? key).toUpperCase();

interface Cell {
  readonly shown: string;
  /** The text without colours. */
  readonly text: string;
}

/** Characters that are one column wide on every terminal, and the ellipsis of truncated text. */
const onePlaceEach = /^[\x20-\x7e…]*$/;

/** A reduce, because spreading hundreds of thousands of items would exceed the limit on arguments. */
const most = <T>(items: readonly T[], size: (item: T) => number): number =>
  items.reduce((max, item) => Math.max(max, size(item)), 0);

function aligned(lines: readonly (readonly Cell[])[]): string {
  const widths = (lines[0] ?? []).map((_, at) => most(lines, (line) => line[at]?.text.length ?? 0));
  return lines
    .map((line) => line.map(({ shown, text }, at) => shown + " ".repeat((widths[at] ?? 0) - text.length)).join(gap))
    .join("\n");
}

/** Aligns characters that take two columns or none. A library knows their widths, but takes ten times as long. */
async function alignedByWidth(lines: readonly (readonly Cell[])[]): Promise<string> {
  const { default: Table } = await import("cli-table3");
  const table = new Table({
    chars: { ...nothing, middle: gap },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
  });
  for (const line of lines) table.push(line.map(({ shown }) => shown));
  return table.toString();
}

/** The columns that fit into `width`, and their widths. Required columns remain, even if they do not fit. */
export function fitColumns(
  columns: readonly Pick<Column, "whole" | "least" | "spare" | "required">[],
  natural: readonly number[],
  width: number | null,
): { at: number; width: number }[] {
  const kept = columns.map((_, at) => at);
  if (width === null) return kept.map((at) => ({ at, width: natural[at]! }));
  const least = (at: number): number =>
    columns[at]!.whole ? natural[at]! : Math.min(natural[at]!, columns[at]!.least ?? MIN_COLUMN_WIDTH);
  const room = () => width - gap.length * (kept.length - 1);
  while (kept.length > 1 && sum(kept.map(least)) > room()) {
    const [first, ...others] = kept.filter((at) => !columns[at]!.whole && !columns[at]!.required);
    if (first === undefined) break;
    const spare = (at: number) => columns[at]!.spare ?? 0;
    const goes = others.reduce((chosen, at) => (chosen !== first && spare(chosen) > spare(at) ? chosen : at), first);
    kept.splice(kept.indexOf(goes), 1);
  }
  const widths = new Map(kept.map((at) => [at, natural[at]!]));
  while (sum([...widths.values()]) > room()) {
    const cuttable = kept.filter((at) => widths.get(at)! > least(at));
    const [widest] = cuttable.sort((a, b) => widths.get(b)! - widths.get(a)!);
    if (widest === undefined) break;
    widths.set(widest, widths.get(widest)! - 1);
  }
  return kept.map((at) => ({ at, width: widths.get(at)! }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The text in lines of at most `width` characters, divided at blanks where that is possible. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  for (const word of text.split(" ")) {
    let letters = [...word];
    if (line.length > 0 && line.length + 1 + letters.length <= width) {
      line.push(" ", ...letters);
      continue;
    }
    if (line.length > 0) lines.push(line.join(""));
    for (; letters.length > width; letters = letters.slice(width)) lines.push(letters.slice(0, width).join(""));
    line = letters;
  }
  return line.length > 0 || lines.length === 0 ? [...lines, line.join("")] : lines;
}

export function cut(text: string, width = Number.POSITIVE_INFINITY): string {
  const letters = [...text];
  return letters.length <= width ? text : `${letters.slice(0, width - 1).join("")}…`;
}
