// One reply in any of the output formats.
import type { z } from "zod";
import { usage } from "./errors.ts";
import { fieldPaths, isField, pick, valueAt } from "./fields.ts";
import { nearest } from "./suggest.ts";
import { type Column, shown, table } from "./table.ts";
import { cell, printable, visible } from "./text.ts";

export const formats = ["table", "json", "yaml", "csv", "ndjson"] as const;
export type Format = (typeof formats)[number];

export interface OutputOptions {
  readonly format: Format;
  readonly fields?: readonly string[];
  readonly header: boolean;
  readonly bold: (text: string) => string;
  /** Columns of the terminal that shows it; null where none does. */
  readonly width: number | null;
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

// What JSON.stringify and YAML let pass, and a terminal would obey.
const json = (value: unknown, indent?: number): string => visible(JSON.stringify(value, null, indent));

export async function renderList(rows: readonly unknown[], view: View, options: OutputOptions): Promise<string> {
  const { fields, format } = options;
  const own = asColumns(view.columns);
  if (fields) checkFields(fields, view.schema ?? rows);
  const whole = fields ? rows.map((row) => pick(row, fields)) : rows;
  if (format === "json") return `${json(whole, 2)}\n`;
  if (format === "ndjson") return whole.map((row) => `${json(row)}\n`).join("");
  if (format === "yaml") return yaml(whole);
  const columns = fields ? fields.map((key): Column => knownColumn(own, key)) : own;
  return format === "csv" ? csv(rows, columns, options) : table(rows, columns, options);
}

/** One object: in a table, and in csv, a line for each of its fields. */
export async function renderOne(object: unknown, view: Partial<View>, options: OutputOptions): Promise<string> {
  const { fields, format } = options;
  const own = view.columns && asColumns(view.columns);
  if (fields) checkFields(fields, view.schema ?? [object]);
  const whole = fields ? pick(object, fields) : object;
  if (format === "json") return `${json(whole, 2)}\n`;
  if (format === "ndjson") return `${json(whole)}\n`;
  if (format === "yaml") return yaml(whole);
  if (format === "csv") {
    const columns = fields ?? own?.map(({ key }) => key) ?? flatKeys(object);
    return csv(
      [object],
      columns.map((key) => ({ key })),
      options,
    );
  }
  const columns = fields ? fields.map((key) => knownColumn(own ?? [], key)) : own;
  const lines = (columns ?? flatKeys(object).map((key): Column => ({ key }))).map((column) => ({
    field: column.header ?? column.key,
    value: shown(column, object),
  }));
  // One object is shown whole, however long a value is.
  return table(lines, [{ key: "field" }, { key: "value" }], { ...options, header: false, width: null });
}

const asColumns = (columns: View["columns"]): Column[] =>
  columns.map((column) => (typeof column === "string" ? { key: column } : column));

function knownColumn(columns: readonly Column[], key: string): Column {
  const { header: _, ...known } = columns.find((column) => column.key === key) ?? { key };
  return known;
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

async function csv(
  rows: readonly unknown[],
  columns: readonly Column[],
  { header, width }: OutputOptions,
): Promise<string> {
  const { stringify } = await import("csv-stringify/sync");
  return stringify(
    rows.map((row) =>
      columns.map(({ key }) => {
        const value = valueAt(row, key);
        if (typeof value === "number") return value;
        return width === null ? cell(value) : printable(cell(value));
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
  const options = { lineWidth: 0, aliasDuplicateObjects: false };
  const text = stringify(value, options);
  if (visible(text) === text) return text;
  // Escapes are read as such between double quotes only.
  return visible(stringify(value, { ...options, defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "QUOTE_DOUBLE" }));
}
