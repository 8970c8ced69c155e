// A table that prints rows as they arrive. The first rows determine the columns and their widths.

import { printable } from "../../text/printable.ts";
import { cut, fitColumns, widthOf } from "./table.ts";
import { cell } from "./text.ts";

const GAP = "  ";
const MIN_COLUMN_WIDTH = 8;
const MAX_COLUMN_WIDTH = 40;

interface Place {
  readonly key: string;
  readonly width: number;
}
type TableRow = Readonly<Record<string, unknown>>;

export class LiveTable {
  readonly #out: (text: string) => void;
  readonly #header: boolean;
  readonly #bold: (text: string) => string;
  readonly #width: number;
  readonly #tooWide: () => void;
  #places: readonly Place[] = [];
  #columnKeys = new Set<string>();
  #isTooWide = false;

  constructor(io: {
    out: (text: string) => void;
    header: boolean;
    bold: (text: string) => string;
    width: number;
    /** Called if the rows are wider than the terminal: the query names the columns, so none is dropped. */
    tooWide?: () => void;
  }) {
    this.#out = io.out;
    this.#header = io.header;
    this.#bold = io.bold;
    this.#width = io.width;
    this.#tooWide = io.tooWide ?? (() => {});
  }

  /** Adds rows of one host. New columns start a new header; missing values stay empty. */
  add(rows: readonly TableRow[]): void {
    for (const row of rows) {
      if (Object.keys(row).some((key) => !this.#columnKeys.has(key))) this.#begin(Object.keys(row), rows);
      this.#print(this.#places.map(({ key }) => shown(row, key)));
    }
  }

  #begin(keys: readonly string[], rows: readonly TableRow[]): void {
    this.#columnKeys = new Set(keys);
    const natural = keys.map((key) => {
      const cells = rows.slice(0, 100).map((row) => [...shown(row, key)].length);
      return Math.min(MAX_COLUMN_WIDTH, Math.max(MIN_COLUMN_WIDTH, [...key].length, ...cells));
    });
    const fitting = fitColumns(
      keys.map(() => ({ required: true })),
      natural,
      this.#width,
    );
    // Later rows may have longer values, so the unused width is distributed among all columns.
    const used = widthOf(fitting);
    this.#isTooWide = used > this.#width;
    if (this.#isTooWide) this.#tooWide();
    const more = Math.max(0, Math.floor((this.#width - used) / Math.max(1, fitting.length)));
    this.#places = fitting.map(({ at, width }) => ({
      key: keys[at]!,
      width: at === keys.length - 1 ? this.#width : Math.max(width, Math.min(MAX_COLUMN_WIDTH, width + more)),
    }));
    if (this.#header)
      this.#print(
        this.#places.map(({ key }) => printable(key.toUpperCase())),
        this.#bold,
      );
  }

  #print(cells: readonly string[], paint: (text: string) => string = String): void {
    const line = cells
      .map((text, at) =>
        at === cells.length - 1 ? text : cut(text, this.#places[at]!.width).padEnd(this.#places[at]!.width),
      )
      .join(GAP)
      .trimEnd();
    this.#out(`${paint(this.#isTooWide ? line : cut(line, this.#width))}\n`);
  }
}

const shown = (row: TableRow, column: string): string => printable(cell(row[column]));
