// A table that grows: rows are printed as they come, so widths are settled by the first ones.
import { cell, printable } from "./text.ts";

const GAP = "  ";
const NARROWEST = 8;
const WIDEST = 40;

export class LiveTable {
  private readonly out: (text: string) => void;
  private readonly header: boolean;
  private readonly bold: (text: string) => string;
  private readonly width: number;
  private columns: readonly string[] = [];
  private widths: readonly number[] = [];
  private keys = "";

  constructor(io: {
    out: (text: string) => void;
    header: boolean;
    bold: (text: string) => string;
    width: number;
  }) {
    this.out = io.out;
    this.header = io.header;
    this.bold = io.bold;
    this.width = io.width;
  }

  /** Rows of one host. Other columns than before begin a new header. */
  add(rows: readonly Readonly<Record<string, unknown>>[]): void {
    for (const row of rows) {
      const keys = Object.keys(row);
      if (keys.join("\u0000") !== this.keys) this.begin(keys, rows);
      this.print(this.columns.map((column) => shown(row, column)));
    }
  }

  private begin(keys: readonly string[], rows: readonly Readonly<Record<string, unknown>>[]): void {
    this.keys = keys.join("\u0000");
    this.columns = keys;
    this.widths = this.columns.map((column) => {
      const cells = rows.slice(0, 100).map((row) => [...shown(row, column)].length);
      return Math.min(WIDEST, Math.max(NARROWEST, [...column].length, ...cells));
    });
    if (this.header)
      this.print(
        keys.map((key) => printable(key.toUpperCase())),
        this.bold,
      );
  }

  private print(cells: readonly string[], paint: (text: string) => string = String): void {
    const line = cells
      .map((cell, at) => (at === cells.length - 1 ? cell : padded(cell, this.widths[at]!)))
      .join(GAP)
      .trimEnd();
    this.out(`${paint(cut(line, this.width))}\n`);
  }
}

const shown = (row: Readonly<Record<string, unknown>>, column: string): string => printable(cell(row[column]));

const padded = (text: string, width: number): string => cut(text, width).padEnd(width);

function cut(text: string, width: number): string {
  const letters = [...text];
  return letters.length <= width ? text : `${letters.slice(0, width - 1).join("")}…`;
}
