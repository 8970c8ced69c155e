// One reply in any of the output formats.
import type { z } from "zod";
import { usage } from "./errors.ts";
import { fieldPaths, isField, pick, valueAt } from "./fields.ts";
import { nearest } from "./suggest.ts";
import { cell, printable } from "./text.ts";

export const formats = ["table", "json", "yaml", "csv", "ndjson"] as const;
export type Format = (typeof formats)[number];

export interface Column {
  /** Dotted path into the row. */
  readonly key: string;
  readonly header?: string;
  /** How the table shows it; the other formats give the value itself. */
  readonly text?: (value: unknown, row: unknown) => string;
}

export interface OutputOptions {
  readonly format: Format;
  readonly fields?: readonly string[];
  readonly header: boolean;
  readonly bold: (text: string) => string;
}

export interface View {
  readonly columns: readonly (Column | string)[];
  /** What a row is, to check `--fields` against. */
  readonly schema?: z.ZodType;
}

/** Refuses fields that no row can have, naming those it can. */
export function checkFields(fields: readonly string[], known: z.ZodType | readonly unknown[]): void {
  const rows = Array.isArray(known) ? known : null;
  const valid = rows ? [...new Set(rows.flatMap(flatKeys))] : fieldPaths(known as z.ZodType);
  const unknown = fields.filter((field) => (rows ? !valid.includes(field) : !isField(known as z.ZodType, field)));
  if (unknown.length === 0 || rows?.length === 0) return;
  const near = nearest(unknown[0]!, valid);
  throw usage(
    `unknown field${unknown.length > 1 ? "s" : ""} ${unknown.join(", ")} in --fields${near ? `; did you mean ${near}?` : ""}`,
    `Fields: ${valid.join(", ")}`,
  );
}

const json = (value: unknown): string =>
  // DEL and C1 controls pass JSON.stringify, and a terminal would obey them.
  JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export async function renderList(rows: readonly unknown[], view: View, options: OutputOptions): Promise<string> {
  const { fields, format } = options;
  const own = asColumns(view.columns);
  if (fields) checkFields(fields, view.schema ?? rows);
  const whole = fields ? rows.map((row) => pick(row, fields)) : rows;
  if (format === "json") return `${json(whole)}\n`;
  if (format === "ndjson") return whole.map((row) => `${JSON.stringify(row)}\n`).join("");
  if (format === "yaml") return yaml(whole);
  const columns = fields ? fields.map((key): Column => knownColumn(own, key)) : own;
  return format === "csv" ? csv(rows, columns, options.header) : table(rows, columns, options);
}

/** One object: in a table, and in csv, a line for each of its fields. */
export async function renderOne(object: unknown, view: Partial<View>, options: OutputOptions): Promise<string> {
  const { fields, format } = options;
  const own = view.columns && asColumns(view.columns);
  if (fields) checkFields(fields, view.schema ?? [object]);
  const whole = fields ? pick(object, fields) : object;
  if (format === "json") return `${json(whole)}\n`;
  if (format === "ndjson") return `${JSON.stringify(whole)}\n`;
  if (format === "yaml") return yaml(whole);
  if (format === "csv") {
    const columns = fields ?? own?.map(({ key }) => key) ?? flatKeys(object);
    return csv(
      [object],
      columns.map((key) => ({ key })),
      options.header,
    );
  }
  const columns = fields ? fields.map((key) => knownColumn(own ?? [], key)) : own;
  const lines = (columns ?? flatKeys(object).map((key): Column => ({ key }))).map((column) => ({
    field: column.header ?? column.key,
    value: shown(column, object),
  }));
  return table(lines, [{ key: "field" }, { key: "value" }], { ...options, header: false });
}

const asColumns = (columns: View["columns"]): Column[] =>
  columns.map((column) => (typeof column === "string" ? { key: column } : column));

function knownColumn(columns: readonly Column[], key: string): Column {
  const text = columns.find((column) => column.key === key)?.text;
  return text ? { key, text } : { key };
}

/** Fields with plain values, one level of nesting included. */
function flatKeys(object: unknown): string[] {
  if (typeof object !== "object" || object === null) return [];
  return Object.entries(object).flatMap(([key, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.keys(value).map((inner) => `${key}.${inner}`)
      : [key],
  );
}

function shown({ key, text }: Column, row: unknown): string {
  const value = valueAt(row, key);
  return printable(text ? text(value, row) : cell(value));
}

async function table(rows: readonly unknown[], columns: readonly Column[], options: OutputOptions): Promise<string> {
  if (rows.length === 0) return "";
  const { default: Table } = await import("cli-table3");
  const none = "";
  const out = new Table({
    ...(options.header ? { head: columns.map(({ key, header }) => options.bold((header ?? key).toUpperCase())) } : {}),
    chars: {
      top: none,
      "top-mid": none,
      "top-left": none,
      "top-right": none,
      bottom: none,
      "bottom-mid": none,
      "bottom-left": none,
      "bottom-right": none,
      left: none,
      "left-mid": none,
      mid: none,
      "mid-mid": none,
      right: none,
      "right-mid": none,
      middle: "  ",
    },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
  });
  for (const row of rows) out.push(columns.map((column) => shown(column, row)));
  return `${out
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

async function csv(rows: readonly unknown[], columns: readonly Column[], header: boolean): Promise<string> {
  const { stringify } = await import("csv-stringify/sync");
  return stringify(
    rows.map((row) =>
      columns.map(({ key }) => {
        const value = valueAt(row, key);
        return typeof value === "number" ? value : cell(value);
      }),
    ),
    {
      header,
      columns: columns.map(({ key }) => ({ key, header: key })),
      // A cell that begins like a formula would run when the file is opened in a spreadsheet.
      escape_formulas: true,
      record_delimiter: "\n",
    },
  );
}

async function yaml(value: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
