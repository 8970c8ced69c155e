// Conditions on the columns of one table.
import type { Predicate, Scalar } from "../query.ts";
import { cleanText, isTime, searchForm } from "../rows.ts";
import type { ColumnSpec } from "../table.ts";
import type { Layout } from "./layout.ts";
import { searchColumn } from "./schema.ts";
import { allOf, anyOf, col, type Sql, sql } from "./sql.ts";
import { arrayLiteral, sqlTime } from "./types.ts";

type TextLeaf = Extract<Predicate, { op: "contains" | "same" | "search" }>;
type Leaf = Exclude<Predicate, { op: "all" | "none" | "not" | "and" | "or" | "exists" | "hasOf" }>;

export const YES = sql`true`;
export const NO = sql`false`;

/** Adds "or null": the negation of a leaf also matches rows whose column is null. */
export const orNull = (condition: Sql, column: Sql, spec: ColumnSpec): Sql =>
  spec.nullable ? anyOf([condition, sql`${column} IS NULL`]) : condition;

/** Converts the value to the column's type, or returns null if no value of the column can equal it. */
function elementFor(spec: ColumnSpec, value: Scalar): string | number | boolean | null {
  switch (spec.kind) {
    case "id":
    case "ref":
    case "int":
      return Number.isSafeInteger(value) ? (value as number) : null;
    case "real":
      return typeof value === "number" && Number.isFinite(value) ? value : null;
    case "bool":
      return typeof value === "boolean" ? value : null;
    case "text":
      return typeof value === "string" ? cleanText(value) : null;
    case "time":
      return typeof value === "string" && isTime(value) ? sqlTime(value) : null;
    default:
      return null;
  }
}

const CASTS: Partial<Record<ColumnSpec["kind"], string>> = {
  id: "bigint",
  ref: "bigint",
  int: "bigint",
  real: "double precision",
  bool: "boolean",
  text: "text",
  time: "timestamptz",
};

const castOf = (spec: ColumnSpec): Sql => sql.raw(CASTS[spec.kind] ?? "text");
export const operand = (spec: ColumnSpec, value: Scalar): Sql | null => {
  const element = elementFor(spec, value);
  return element === null ? null : sql`${element}::${castOf(spec)}`;
};

const OPERATORS = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const;
const OPPOSITE = { lt: "gte", lte: "gt", gt: "lte", gte: "lt" } as const;
type Comparison = keyof typeof OPERATORS;

function compare(column: Sql, spec: ColumnSpec, op: Comparison, value: string | number): Sql | null {
  const operator = OPERATORS[op];
  if (spec.kind === "text")
    return typeof value === "string" ? sql`${column} ${operator} ${cleanText(value)}::text` : null;
  if (spec.kind === "time") {
    if (typeof value !== "string") return null;
    if (isTime(value)) return sql`${column} ${operator} ${sqlTime(value)}::timestamptz`;
    // Not a valid time: compare as text, like the in-memory engine.
    return sql`to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') COLLATE "C" ${operator} ${cleanText(value)}`;
  }
  if (typeof value !== "number" || Number.isNaN(value)) return null;
  if (spec.kind === "real") return sql`${column} ${operator} ${String(value)}::double precision`;
  if (spec.kind !== "int" && spec.kind !== "ref" && spec.kind !== "id") return null;
  const whole = op === "lt" || op === "gte" ? Math.ceil(value) : Math.floor(value);
  const bounded = Math.min(Math.max(whole, -(2 ** 53)), 2 ** 53);
  return sql`${column} ${operator} ${bounded}::bigint`;
}

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const likePattern = ({ text, at }: Pick<Extract<TextLeaf, { op: "search" }>, "text" | "at">): string =>
  `${at === "start" ? "" : "%"}${searchForm(text).replace(/[\\%_]/g, "\\$&")}%`;

export function leafCondition(predicate: Leaf, layout: Layout, alias: string, negated: boolean): Sql {
  switch (predicate.op) {
    case "null":
      return negated ? sql`${col(alias, predicate.column)} IS NOT NULL` : sql`${col(alias, predicate.column)} IS NULL`;
    case "eq": {
      const value = operand(layout.comparable(predicate.column), predicate.value);
      if (value === null) return negated ? YES : NO;
      const column = col(alias, predicate.column);
      return negated
        ? orNull(sql`${column} <> ${value}`, column, layout.spec(predicate.column))
        : sql`${column} = ${value}`;
    }
    case "in": {
      const kind = layout.comparable(predicate.column);
      const values = predicate.values.map((value) => elementFor(kind, value)).filter((value) => value !== null);
      if (values.length === 0) return negated ? YES : NO;
      const array = sql`(${arrayLiteral(values)}::${castOf(kind)}[])`;
      const column = col(alias, predicate.column);
      return negated
        ? orNull(sql`${column} <> ALL ${array}`, column, layout.spec(predicate.column))
        : sql`${column} = ANY ${array}`;
    }
    case "lt":
    case "lte":
    case "gt":
    case "gte": {
      const op = negated ? OPPOSITE[predicate.op] : predicate.op;
      const column = col(alias, predicate.column);
      // A comparison that can never be true has a negation that is always true.
      if (compare(column, layout.comparable(predicate.column), predicate.op, predicate.value) === null)
        return negated ? YES : NO;
      const condition = compare(column, layout.spec(predicate.column), op, predicate.value)!;
      return negated ? orNull(condition, column, layout.spec(predicate.column)) : condition;
    }
    case "has": {
      const column = col(alias, predicate.column);
      const condition = sql`${column} && ${arrayLiteral(predicate.values.filter(Number.isSafeInteger))}::bigint[]`;
      return negated ? orNull(sql`NOT (${condition})`, column, layout.spec(predicate.column)) : condition;
    }
    default:
      return textCondition(predicate, layout, alias, negated);
  }
}

function textCondition(predicate: TextLeaf, layout: Layout, alias: string, negated: boolean): Sql {
  switch (predicate.op) {
    case "contains": {
      if (layout.comparable(predicate.column).kind !== "text")
        throw new Error(`${layout.table.name}.${predicate.column}: not a text column`);
      const column = col(alias, predicate.column);
      const needle = asciiLower(cleanText(predicate.text));
      // In the C collation, lower() only changes the letters A to Z and works on bytes: several times as fast as
      // translate().
      const position = sql`strpos(lower(${column} COLLATE "C"), ${needle}::text)`;
      return negated ? orNull(sql`${position} = 0`, column, layout.spec(predicate.column)) : sql`${position} > 0`;
    }
    case "same": {
      const { column, texts } = predicate;
      if (!layout.spec(column).searchable)
        throw new Error(`${layout.table.name}.${column} is not declared with search()`);
      const forms = sql`(${arrayLiteral(texts.map(searchForm))}::text[])`;
      const shadow = col(alias, searchColumn(column));
      return negated
        ? orNull(sql`${shadow} <> ALL ${forms}`, col(alias, column), layout.spec(column))
        : sql`${shadow} = ANY ${forms}`;
    }
    case "search": {
      const pattern = likePattern(predicate);
      const parts = predicate.columns.map((column) => {
        if (!layout.spec(column).searchable)
          throw new Error(`${layout.table.name}.${column} is not declared with search()`);
        const shadow = col(alias, searchColumn(column));
        return negated
          ? orNull(sql`${shadow} NOT LIKE ${pattern}`, col(alias, column), layout.spec(column))
          : sql`${shadow} LIKE ${pattern}`;
      });
      return negated ? allOf(parts) : anyOf(parts);
    }
  }
}
