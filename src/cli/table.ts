// Rows as a table: aligned, made safe for a terminal, and cut to fit one.
import { valueAt } from "./fields.ts";
import { cell, printable } from "./text.ts";

export interface Column {
  /** Dotted path into the row. */
  readonly key: string;
  readonly header?: string;
  /** How the table shows it; the other formats give the value itself. */
  readonly text?: (value: unknown, row: unknown) => string;
  /** Colour of the finished cell. */
  readonly paint?: (text: string) => string;
  /** Never cut: what people copy, secrets above all. */
  readonly whole?: boolean;
}

export interface TableOptions {
  readonly header: boolean;
  readonly bold: (text: string) => string;
  readonly width: number | null;
}

const gap = "  ";
/** A column is not cut below this: less of it would say nothing. */
const narrowest = 12;

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

/** The table's text; on a terminal of `width` columns its widest columns are cut, to keep a row on a line. */
export async function table(
  rows: readonly unknown[],
  columns: readonly Column[],
  { header, bold, width }: TableOptions,
): Promise<string> {
  if (rows.length === 0) return "";
  const heads = header ? columns.map((column) => (column.header ?? column.key).toUpperCase()) : null;
  const cells = rows.map((row) => columns.map((column) => shown(column, row)));
  const widths = widthsOf(columns, heads === null ? cells : [heads, ...cells], width);
  const fitted = (line: readonly string[], paint: (text: string, at: number) => string): Cell[] =>
    line.map((text, at) => {
      const whole = cut(text, widths[at]);
      return { shown: paint(whole, at), length: whole.length };
    });
  const lines = [
    ...(heads === null ? [] : [fitted(heads, bold)]),
    ...cells.map((line) => fitted(line, (text, at) => (columns[at]?.paint ?? String)(text))),
  ];
  const narrow = [...(heads ?? []), ...cells.flat()].every((text) => onePlaceEach.test(text));
  const text = narrow ? aligned(lines) : await alignedByWidth(lines);
  return `${text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

interface Cell {
  readonly shown: string;
  /** Places that it takes without its colours. */
  readonly length: number;
}

/** Letters that take one place each on every terminal, and the ellipsis of a cut. */
const onePlaceEach = /^[\x20-\x7e…]*$/;

/** Not by a spread: of a list of hundreds of thousands it is more arguments than a call may have. */
const most = <T>(items: readonly T[], size: (item: T) => number): number =>
  items.reduce((found, item) => Math.max(found, size(item)), 0);

function aligned(lines: readonly (readonly Cell[])[]): string {
  const widths = (lines[0] ?? []).map((_, at) => most(lines, (line) => line[at]?.length ?? 0));
  return lines
    .map((line) => line.map(({ shown, length }, at) => shown + " ".repeat((widths[at] ?? 0) - length)).join(gap))
    .join("\n");
}

/** The same where letters take two places or none: a library knows which, at ten times the cost. */
async function alignedByWidth(lines: readonly (readonly Cell[])[]): Promise<string> {
  const { default: Table } = await import("cli-table3");
  const table = new Table({
    chars: { ...nothing, middle: gap },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
  });
  for (const line of lines) table.push(line.map(({ shown }) => shown));
  return table.toString();
}

/** The width of each column, the widest made narrower until a row fits. */
function widthsOf(columns: readonly Column[], lines: readonly (readonly string[])[], width: number | null): number[] {
  const widths = columns.map((_, at) => most(lines, (line) => [...(line[at] ?? "")].length));
  if (width === null) return widths;
  const room = width - gap.length * (columns.length - 1);
  while (sum(widths) > room) {
    const widest = Math.max(...widths.filter((_, at) => columns[at]?.whole !== true));
    if (widest <= narrowest) break;
    const at = widths.findIndex((own, index) => own === widest && columns[index]?.whole !== true);
    widths[at] = widest - 1;
  }
  return widths;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function cut(text: string, width = Number.POSITIVE_INFINITY): string {
  const letters = [...text];
  return letters.length <= width ? text : `${letters.slice(0, width - 1).join("")}…`;
}
