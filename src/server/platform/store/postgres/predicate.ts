// Translates predicates to SQL conditions. Negation is pushed down to the leaves: it stays two-valued there (SQL's
// NOT of unknown is unknown), and conditions keep forms that indexes support.
import type { Predicate, Scalar } from "../query.ts";
import { cleanText, isTime, searchForm } from "../rows.ts";
import type { ColumnSpec } from "../table.ts";
import type { Layout } from "./layout.ts";
import { searchColumn } from "./schema.ts";
import { allOf, anyOf, col, name, type Sql, sql } from "./sql.ts";
import { arrayLiteral, sqlTime } from "./types.ts";

export type LayoutOf = (table: string) => Layout;

const YES = sql`true`;
const NO = sql`false`;

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

const likePattern = (text: string): string => `%${searchForm(text).replace(/[\\%_]/g, "\\$&")}%`;

export class Conditions {
  /** A table joined by id to table `of`, under `alias`. Conditions on it use the joined row instead of a subquery. */
  partner: { readonly table: string; readonly alias: string; readonly of: string } | null = null;
  /**
   * Alternatives that need the members of related rows are searched for by their indexes, each in all rows, instead of
   * tested on each row. Not for queries that examine only the first rows in some order.
   */
  findsMembers = false;
  readonly #layoutOf: LayoutOf;
  #aliases = 0;

  constructor(layoutOf: LayoutOf) {
    this.#layoutOf = layoutOf;
  }

  /** A new alias, unique in this statement. */
  alias(): string {
    return `t${++this.#aliases}`;
  }

  of(predicate: Predicate, layout: Layout, alias: string, negated = false): Sql {
    const spec = (column: string): ColumnSpec => layout.spec(column);
    const comparable = (column: string): ColumnSpec => layout.comparable(column);
    /** Adds "or null": the negation of a leaf also matches rows whose column is null. */
    const orNull = (condition: Sql, column: string) =>
      spec(column).nullable ? anyOf([condition, sql`${col(alias, column)} IS NULL`]) : condition;

    switch (predicate.op) {
      case "all":
        return negated ? NO : YES;
      case "none":
        return negated ? YES : NO;
      case "not":
        return this.of(predicate.part, layout, alias, !negated);
      case "and":
      case "or": {
        const apart = !negated && predicate.op === "or" ? this.#searchedApart(predicate.parts, layout, alias) : null;
        if (apart) return apart;
        const parts = predicate.parts.map((part) => this.of(part, layout, alias, negated));
        return (predicate.op === "and") !== negated ? allOf(parts) : anyOf(parts);
      }
      case "null":
        return negated
          ? sql`${col(alias, predicate.column)} IS NOT NULL`
          : sql`${col(alias, predicate.column)} IS NULL`;
      case "eq": {
        const value = operand(comparable(predicate.column), predicate.value);
        if (value === null) return negated ? YES : NO;
        const column = col(alias, predicate.column);
        return negated ? orNull(sql`${column} <> ${value}`, predicate.column) : sql`${column} = ${value}`;
      }
      case "in": {
        const kind = comparable(predicate.column);
        const values = predicate.values.map((value) => elementFor(kind, value)).filter((value) => value !== null);
        if (values.length === 0) return negated ? YES : NO;
        const array = sql`(${arrayLiteral(values)}::${castOf(kind)}[])`;
        const column = col(alias, predicate.column);
        return negated ? orNull(sql`${column} <> ALL ${array}`, predicate.column) : sql`${column} = ANY ${array}`;
      }
      case "lt":
      case "lte":
      case "gt":
      case "gte": {
        const op = negated ? OPPOSITE[predicate.op] : predicate.op;
        const column = col(alias, predicate.column);
        // A comparison that can never be true has a negation that is always true.
        if (compare(column, comparable(predicate.column), predicate.op, predicate.value) === null)
          return negated ? YES : NO;
        const condition = compare(column, spec(predicate.column), op, predicate.value)!;
        return negated ? orNull(condition, predicate.column) : condition;
      }
      case "has": {
        const column = col(alias, predicate.column);
        const condition = sql`${column} && ${arrayLiteral(predicate.values.filter(Number.isSafeInteger))}::bigint[]`;
        return negated ? orNull(sql`NOT (${condition})`, predicate.column) : condition;
      }
      case "hasOf": {
        const column = col(alias, predicate.column);
        const other = this.#layoutOf(predicate.table.name);
        const inner = this.alias();
        other.comparable(predicate.from);
        if (spec(predicate.column).kind !== "ids")
          throw new Error(`${layout.table.name}.${predicate.column}: not an ids column`);
        // The subquery does not depend on the row, so it is evaluated once and the index on the members can be used.
        const values = sql`ARRAY(SELECT ${col(inner, predicate.from)} FROM ${name(other.table.name)} AS ${name(inner)} WHERE ${this.of(predicate.where, other, inner)})`;
        const condition = sql`${column} && ${values}`;
        return negated ? orNull(sql`NOT (${condition})`, predicate.column) : condition;
      }
      case "contains": {
        if (comparable(predicate.column).kind !== "text")
          throw new Error(`${layout.table.name}.${predicate.column}: not a text column`);
        const column = col(alias, predicate.column);
        const needle = asciiLower(cleanText(predicate.text));
        // In the C collation, lower() only changes the letters A to Z and works on bytes: several times as fast as
        // translate().
        const position = sql`strpos(lower(${column} COLLATE "C"), ${needle}::text)`;
        return negated ? orNull(sql`${position} = 0`, predicate.column) : sql`${position} > 0`;
      }
      case "same": {
        const { column, texts } = predicate;
        if (!spec(column).searchable) throw new Error(`${layout.table.name}.${column} is not declared with search()`);
        const forms = sql`(${arrayLiteral(texts.map(searchForm))}::text[])`;
        const shadow = col(alias, searchColumn(column));
        return negated ? orNull(sql`${shadow} <> ALL ${forms}`, column) : sql`${shadow} = ANY ${forms}`;
      }
      case "search": {
        const pattern = likePattern(predicate.text);
        const parts = predicate.columns.map((column) => {
          if (!spec(column).searchable) throw new Error(`${layout.table.name}.${column} is not declared with search()`);
          const shadow = col(alias, searchColumn(column));
          return negated ? orNull(sql`${shadow} NOT LIKE ${pattern}`, column) : sql`${shadow} LIKE ${pattern}`;
        });
        return negated ? allOf(parts) : anyOf(parts);
      }
      case "exists": {
        const other = this.#layoutOf(predicate.table.name);
        if (this.#isPartner(predicate, alias)) return this.of(predicate.where, other, this.partner!.alias, negated);
        const inner = this.alias();
        const joined = sql`${col(inner, predicate.column)} = ${col(alias, predicate.local)}`;
        const where = allOf([joined, this.of(predicate.where, other, inner)]);
        const exists = sql`EXISTS (SELECT 1 FROM ${name(other.table.name)} AS ${name(inner)} WHERE ${where})`;
        return negated ? allOf([...this.#mayLack(predicate, layout, other), sql`NOT ${exists}`]) : exists;
      }
    }
  }

  #isPartner({ table, column, local }: Exists, alias: string): boolean {
    return this.partner?.table === table.name && this.partner.of === alias && column === "id" && local === "id";
  }

  /**
   * A table that shares this table's ids has at most as many rows, and usually exactly as many. Counting both once is
   * cheaper than checking each row for a missing counterpart.
   */
  #mayLack({ where, column, local }: Exists, layout: Layout, other: Layout): Sql[] {
    const shares = column === "id" && local === "id" && other.spec("id").to === layout.table.name;
    if (!shares || where.op !== "all") return [];
    const count = (table: string) => sql`(SELECT count(*) FROM ${name(table)})`;
    return [sql`${count(layout.table.name)} > ${count(other.table.name)}`];
  }

  /**
   * A search in this table or in related rows: each part finds its ids with its own index, which one condition over
   * both tables could not use.
   */
  #searchedApart(parts: readonly Predicate[], layout: Layout, alias: string): Sql | null {
    const isSearched = parts.some((part) => part.op === "exists") && parts.every(isSearch);
    if (!isSearched && !(this.findsMembers && parts.some(hasMembers) && parts.every(isExists))) return null;
    const selects = parts.map((part) => {
      const inner = this.alias();
      if (part.op !== "exists" || part.local !== "id")
        return sql`SELECT ${col(inner, "id")} FROM ${name(layout.table.name)} AS ${name(inner)} WHERE ${this.of(part, layout, inner)}`;
      const other = this.#layoutOf(part.table.name);
      const from = sql`${name(other.table.name)} AS ${name(inner)}`;
      return sql`SELECT ${col(inner, part.column)} FROM ${from} WHERE ${this.of(part.where, other, inner)}`;
    });
    return sql`${col(alias, "id")} IN (${sql.join(selects, " UNION ALL ")})`;
  }
}

type Exists = Extract<Predicate, { op: "exists" }>;

const isExists = (predicate: Predicate): predicate is Exists => predicate.op === "exists";

export const hasMembers = (predicate: Predicate): boolean => isExists(predicate) && predicate.where.op === "hasOf";

const isSearch = (predicate: Predicate): boolean =>
  predicate.op === "search" || (predicate.op === "exists" && predicate.where.op === "search");
