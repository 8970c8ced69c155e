// One reply in any of the output formats.
import type { z } from "zod";
import { usage } from "./errors.ts";
import { fieldPaths, isField, pick, valueAt } from "./fields.ts";
import { compileJq, type Select } from "./jq.ts";
import { nearest } from "./suggest.ts";
import { type Column, shown, table } from "./table.ts";
import { cell, printable, visible } from "./text.ts";

export const formats = ["table", "json", "yaml", "csv", "ndjson"] as const;
export type Format = (typeof formats)[number];

export interface OutputOptions {
  readonly format: Format;
  readonly fields?: readonly string[];
  /** An expression in jq's language, for json and ndjson. */
  readonly jq?: string;
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

/** Takes text as it is made; ready for more when it resolves. */
export type Write = (text: string) => Promise<void>;
export type Pages = AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>;

/**
 * Writes a list and gives the number of its rows. As json, ndjson and csv each page is written when it comes and not kept; a table and
 * yaml need all rows, and so does a jq expression over the whole of json.
 */
export async function writeList(pages: Pages, view: View, options: OutputOptions, write: Write): Promise<number> {
  const { fields, format } = options;
  // Where it is known what a row is, nothing is asked for in vain.
  if (fields && view.schema) checkFields(fields, view.schema);
  const { page, end } = await listWriter(asColumns(view.columns), options, write);
  let count = 0;
  for await (const rows of pages) {
    if (fields && !view.schema && count === 0) checkFields(fields, rows);
    count += rows.length;
    await page(fields && (format === "json" || format === "ndjson") ? rows.map((row) => pick(row, fields)) : rows);
  }
  await end();
  return count;
}

interface ListWriter {
  page(rows: readonly unknown[]): Promise<void>;
  end(): Promise<void>;
}

async function listWriter(own: readonly Column[], options: OutputOptions, write: Write): Promise<ListWriter> {
  const { fields, format } = options;
  const select = await selectOf(options);
  const columns = fields ? fields.map((key): Column => knownColumn(own, key)) : own;
  const lines = (rows: readonly unknown[]) => rows.map((row) => `${json(row)}\n`).join("");
  if (format === "ndjson")
    return { page: (rows) => write(select ? select(lines(rows)) : lines(rows)), end: async () => {} };
  if (format === "csv") {
    let { header } = options;
    const page = async (rows: readonly unknown[]) => {
      const text = await csv(rows, columns, { ...options, header });
      header = false;
      await write(text);
    };
    return { page, end: async () => (header ? page([]) : undefined) };
  }
  if (format === "json" && !select) {
    let begun = false;
    const page = async (rows: readonly unknown[]) => {
      if (rows.length === 0) return;
      const parts = rows.map((row) => `  ${json(row, 2).replaceAll("\n", "\n  ")}`);
      await write(`${begun ? ",\n" : "[\n"}${parts.join(",\n")}`);
      begun = true;
    };
    return { page, end: () => write(begun ? "\n]\n" : "[]\n") };
  }
  const kept: unknown[] = [];
  const whole = async () => {
    if (select) return select(`[${kept.map((row) => json(row)).join(",")}]`);
    return format === "yaml"
      ? yaml(fields ? kept.map((row) => pick(row, fields)) : kept)
      : table(kept, columns, options);
  };
  return {
    page: async (rows) => {
      for (const row of rows) kept.push(row);
    },
    end: async () => write(await whole()),
  };
}

/** What --jq says; null without it. Refuses what is no expression. */
export async function selectOf({ format, jq }: Pick<OutputOptions, "format" | "jq">): Promise<Select | null> {
  if (jq === undefined) return null;
  if (format !== "json" && format !== "ndjson")
    throw usage(`--jq does not go with -o ${format}`, "It selects from json, and of ndjson from each line.");
  const compact = format === "ndjson";
  const key = `${compact} ${jq}`;
  const known = compiled.get(key) ?? compileJq(jq, compact);
  compiled.set(key, known);
  return known;
}

// What comes line by line is printed by many calls.
const compiled = new Map<string, Promise<Select>>();

/** One object: in a table, and in csv, a line for each of its fields. */
export async function renderOne(object: unknown, view: Partial<View>, options: OutputOptions): Promise<string> {
  const { fields, format } = options;
  const select = await selectOf(options);
  const own = view.columns && asColumns(view.columns);
  if (fields) checkFields(fields, view.schema ?? [object]);
  const whole = fields ? pick(object, fields) : object;
  if (select) return select(json(whole));
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
      // A cell that begins like a formula would run when the file is opened in a spreadsheet, and what follows a bare CR begins a cell there.
      escape_formulas: true,
      quoted_match: /[\r\n]/,
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
