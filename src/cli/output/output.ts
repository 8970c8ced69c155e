// Renders replies in all output formats.

import type { z } from "zod";
import { editDistance, nearest } from "../../text/nearest.ts";
import { printable, visible } from "../../text/printable.ts";
import { isRecord } from "../../text/record.ts";
import { usage } from "../errors.ts";
import { fieldPaths, isField, pick, valueAt } from "./fields.ts";
import { compileJq, type Select } from "./jq.ts";
import { type Sort, sorted } from "./sort.ts";
import { type Column, shown, table } from "./table.ts";
import { fillTemplate, parseTemplate, type Template } from "./template.ts";
import { cell, memoryText } from "./text.ts";

export const formats = ["table", "json", "yaml", "csv", "ndjson"] as const;
export type Format = (typeof formats)[number];

export interface OutputOptions {
  readonly format: Format;
  readonly fields?: readonly string[];
  /** An expression in jq's language, for json and ndjson. */
  readonly jq?: string;
  /** A text per row, in which fields stand in braces. */
  readonly template?: string;
  /** Orders the rows of a list. */
  readonly sort?: Sort;
  readonly header: boolean;
  readonly bold: (text: string) => string;
  /** The text in the colour of this SGR code. */
  readonly colour: (code: number, text: string) => string;
  /** The width of the terminal; null if the output is not a terminal. */
  readonly width: number | null;
  /** A time as shown of a single object; without it, times are shown as they are. */
  readonly time?: (iso: string) => string;
  /** Renders times in lists, where they are ages. */
  readonly age?: (iso: string) => string;
  /** Called with the headers of the columns that do not fit the terminal. */
  readonly leftOut?: (headers: readonly string[]) => void;
  /** Called before jq runs, which blocks until it is done. */
  readonly beforeJq?: () => Promise<void>;
  /** Called if the rows are wider than the terminal. */
  readonly tooWide?: () => void;
}

export interface View {
  readonly columns: readonly (Column | string)[];
  /** The schema of a row, to validate `--fields`; a function, because only those who give fields need it. */
  readonly schema?: () => z.ZodType;
}

/** More valid fields are not listed in an error. */
const MAX_LISTED_FIELDS = 12;

/** The valid fields that resemble the unknown one, or all if they are few. */
function validFields(unknown: string, valid: readonly string[]): string {
  if (valid.length <= MAX_LISTED_FIELDS) return `Fields: ${valid.join(", ")}`;
  const end = unknown.split(".").at(-1)!.toLowerCase();
  const distance = (field: string) =>
    field.includes(end) ? 0 : Math.min(...[field, ...field.split(/[._]/)].map((word) => editDistance(end, word)));
  const near = valid
    .map((field) => ({ field, distance: distance(field) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_LISTED_FIELDS / 2)
    .map(({ field }) => field);
  return `Fields like it: ${near.join(", ")}. \`svc explain RESOURCE\` lists all ${valid.length} fields, such as \`svc explain hosts\`.`;
}

/** Refuses fields that no row can have, and names valid ones. */
export function checkFields(
  fields: readonly string[],
  source: (() => z.ZodType) | readonly unknown[],
  flag = "--fields",
): void {
  if (fields.length === 0) return;
  const schema = typeof source === "function" ? source() : null;
  const rows = typeof source === "function" ? null : source;
  const valid = schema ? fieldPaths(schema) : [...new Set((rows ?? []).flatMap(flatKeys))];
  const unknown = fields.filter((field) => (schema ? !isField(schema, field) : !valid.includes(field)));
  if (unknown.length === 0 || rows?.length === 0) return;
  const near = nearest(unknown[0]!, valid);
  throw usage(
    `unknown field${unknown.length > 1 ? "s" : ""} ${unknown.join(", ")} in ${flag}${near ? `; did you mean ${near}?` : ""}`,
    validFields(unknown[0]!, valid),
  );
}

// JSON.stringify and YAML do not escape all characters that control a terminal.
const json = (value: unknown, indent?: number): string => visible(JSON.stringify(value, null, indent));

/** Writes text; resolves when the destination is ready for more. */
export type Write = (text: string) => Promise<void>;
export type Pages = AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>;

/**
 * Writes a list and returns the number of its rows. In json, ndjson and csv each page is written when it arrives and
 * not kept. A table and yaml need all rows, and so does a jq expression on json.
 */
export async function writeList(pages: Pages, view: View, options: OutputOptions, write: Write): Promise<number> {
  const { format } = options;
  const template = options.template === undefined ? undefined : parseTemplate(options.template);
  const fields = options.fields ?? template?.fields;
  const check = (source: (() => z.ZodType) | readonly unknown[]) => {
    checkFields(fields ?? [], source, template ? "--template" : "--fields");
    if (options.sort) checkFields([options.sort.field], source, "--sort");
  };
  // If the schema is known, fields are validated before the first request.
  if (view.schema) check(view.schema);
  const { page, end } = template
    ? templateWriter(template, write)
    : await listWriter(asColumns(view.columns), options, write);
  let count = 0;
  for await (const rows of options.sort === undefined ? pages : sorted(pages, options.sort)) {
    if (!view.schema && count === 0) check(rows);
    count += rows.length;
    await page(
      fields && !template && (format === "json" || format === "ndjson") ? rows.map((row) => pick(row, fields)) : rows,
    );
  }
  await end();
  return count;
}

const templateWriter = (template: Template, write: Write): ListWriter => ({
  page: (rows) => write(rows.map((row) => fillTemplate(template, row)).join("")),
  end: async () => {},
});

interface ListWriter {
  page(rows: readonly unknown[]): Promise<void>;
  end(): Promise<void>;
}

async function listWriter(viewColumns: readonly Column[], options: OutputOptions, write: Write): Promise<ListWriter> {
  const { fields, format } = options;
  const select = await selectOf(options);
  const chosen = fields
    ? fields.map((key): Column => ({ ...knownColumn(viewColumns, key), required: true }))
    : viewColumns;
  const columns = chosen.map((column) => inColour(readable(column, options.age), options));
  const lines = (rows: readonly unknown[]) => rows.map((row) => `${json(row)}\n`).join("");
  if (format === "ndjson")
    return { page: async (rows) => write(select ? await select(lines(rows)) : lines(rows)), end: async () => {} };
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

/** The compiled --jq expression; null without the flag. Refuses an invalid expression. */
export async function selectOf({
  format,
  jq,
  beforeJq,
}: Pick<OutputOptions, "format" | "jq" | "beforeJq">): Promise<((whole: string) => Promise<string>) | null> {
  if (jq === undefined) return null;
  if (format !== "json" && format !== "ndjson")
    throw usage(`--jq cannot be used with -o ${format}`, "It works with json and ndjson.");
  const compact = format === "ndjson";
  const key = `${compact} ${jq}`;
  const filter = compiled.get(key) ?? compileJq(jq, compact);
  compiled.set(key, filter);
  const select = await filter;
  return async (whole) => {
    await beforeJq?.();
    return select(whole);
  };
}

// Cached, because commands that print line by line call this for each line.
const compiled = new Map<string, Promise<Select>>();

/** Renders one object. Tables have a line per field. */
export async function renderOne(object: unknown, view: Partial<View>, options: OutputOptions): Promise<string> {
  const { fields, format } = options;
  if (options.template !== undefined) {
    const template = parseTemplate(options.template);
    checkFields(template.fields, view.schema ?? [object], "--template");
    return fillTemplate(template, object);
  }
  const select = await selectOf(options);
  const viewColumns = view.columns && asColumns(view.columns);
  if (fields) checkFields(fields, view.schema ?? [object]);
  const whole = fields ? pick(object, fields) : object;
  if (select) return select(json(whole));
  if (format === "json") return `${json(whole, 2)}\n`;
  if (format === "ndjson") return `${json(whole)}\n`;
  if (format === "yaml") return yaml(whole);
  if (format === "csv") {
    const columns = fields ?? viewColumns?.map(({ key }) => key) ?? flatKeys(object);
    return csv(
      [object],
      columns.map((key) => ({ key })),
      options,
    );
  }
  const columns = fields ? fields.map((key) => knownColumn(viewColumns ?? [], key)) : viewColumns;
  const [blocks, short] = apart(columns ?? flatKeys(object).map((key): Column => ({ key })));
  const lines = short.map((column) => ({
    field: column.header ?? column.key,
    value: shown(readable(column, options.time), object),
    own: inColour(column, options),
  }));
  type Line = (typeof lines)[number];
  const paint = (text: string, _: unknown, row: unknown) => {
    const { own: column } = row as Line;
    return column.paint?.(text, valueAt(object, column.key), object) ?? text;
  };
  // The values of a single object are never truncated.
  const summary = await table(lines, [{ key: "field" }, { key: "value", paint }], {
    ...options,
    header: false,
    width: null,
  });
  return [summary, ...blocks.map((column) => blockOf(column, object, options))]
    .filter((part) => part !== "")
    .join("\n");
}

const apart = (columns: readonly Column[]): [blocks: Column[], short: Column[]] => [
  columns.filter(({ block }) => block),
  columns.filter(({ block }) => !block),
];

/** A text of several lines under its name. Whoever writes it to a terminal escapes it. */
function blockOf({ key, header, text }: Column, object: unknown, { header: isHeaded, bold }: OutputOptions): string {
  const value = valueAt(object, key);
  const whole = text ? text(value, object) : cell(value);
  if (whole === "") return "";
  return `${isHeaded ? `${bold(`${header ?? key}:`)}\n` : ""}${whole}${whole.endsWith("\n") ? "" : "\n"}`;
}

const [GREEN, YELLOW, RED, DIM] = [32, 33, 31, 2];
/** The names of states in the API, with their colours. */
const stateColours: Readonly<Record<string, number>> = Object.fromEntries(
  [
    [GREEN, "ok online passing pass verified running approved delivered success installed"],
    [YELLOW, "pending waiting verifying requested acknowledged action_required"],
    [RED, "failed failing fail error dead denied missing mia gave_up rejected"],
    [DIM, "offline expired cancelled complete finished"],
  ].flatMap(([code, words]) =>
    String(words)
      .split(" ")
      .map((word) => [word, Number(code)] as const),
  ),
);
const isState = (key: string): boolean => /(^|\.)(status|state|health|response)$/.test(key);

function inColour(column: Column, { colour }: OutputOptions): Column {
  if (column.paint || !isState(column.key)) return column;
  return {
    ...column,
    paint: (text, value) => {
      const code = typeof value === "string" ? stateColours[value.toLowerCase()] : undefined;
      return code === undefined ? text : colour(code, text);
    },
  };
}

const isTime = (key: string): boolean => /(?:_at|_time|_until|_date|_before|_published)$/.test(key);
/** Ids and uuids are of no use in part. */
const isIdentity = (key: string): boolean => /(?:^|[._])(?:uu)?id$/.test(key);
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

/** The column as people read it in a table: times, sizes of memory, and identities that are never cut. */
function readable(column: Column, time: OutputOptions["time"]): Column {
  const { key, text } = column;
  if (isIdentity(key)) return { whole: true, ...column };
  if (text) return column;
  if (key === "memory") return { ...column, text: memoryText };
  if (!time || !isTime(key)) return column;
  return {
    ...column,
    text: (value) => (typeof value === "string" && ISO_TIME.test(value) ? time(value) : cell(value)),
  };
}

const asColumns = (columns: View["columns"]): Column[] =>
  columns.map((column) => (typeof column === "string" ? { key: column } : column));

function knownColumn(columns: readonly Column[], key: string): Column {
  const { header: _, ...headless } = columns.find((column) => column.key === key) ?? { key };
  return headless;
}

/** The fields with simple values, including one level of nesting. */
function flatKeys(object: unknown): string[] {
  if (typeof object !== "object" || object === null) return [];
  return Object.entries(object).flatMap(([key, value]) =>
    isRecord(value) ? Object.keys(value).map((inner) => `${key}.${inner}`) : [key],
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
      // A spreadsheet would run a cell that begins like a formula. It also treats text after a bare CR as a new cell.
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
  // YAML interprets escapes only between double quotes.
  return visible(stringify(value, { ...options, defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "QUOTE_DOUBLE" }));
}
