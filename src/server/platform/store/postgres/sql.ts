// SQL composed of parts with sql-template-tag, and compiled to text with numbered parameters, which `pg` executes.
import template, { empty, join, raw, type Sql } from "sql-template-tag";

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type { Sql };

const quotedIdentifier = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`;

const literal = (value: string | number | boolean | null): string =>
  typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);

/** A template: values become parameters, parts of SQL are inserted. */
export const sql = Object.assign(
  (texts: TemplateStringsArray, ...parts: readonly unknown[]): Sql => template(texts, ...parts),
  {
    /** An identifier, which may be qualified: `id("t0", "name")`. */
    id: (...identifiers: readonly string[]): Sql => raw(identifiers.map(quotedIdentifier).join(".")),
    join: (parts: readonly Sql[], separator = ", "): Sql => (parts.length === 0 ? empty : join(parts, separator)),
    /** A value in the text itself. Never for values of callers. */
    lit: (value: string | number | boolean | null): Sql => raw(literal(value)),
    /** Text as it is. Never for values of callers. */
    raw,
  },
);

export const compile = ({ text, values }: Sql): Statement => ({ text, values });

/** The text of a statement without parameters. */
export const textOf = ({ text }: Sql): string => text;

export const list = (parts: readonly Sql[]): Sql => sql.join(parts);
export const allOf = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`true` : parts.length === 1 ? parts[0]! : sql`(${sql.join(parts, " AND ")})`;
export const anyOf = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`false` : parts.length === 1 ? parts[0]! : sql`(${sql.join(parts, " OR ")})`;
/** A column of the row with this alias. */
export const col = (alias: string, column: string): Sql => sql.id(alias, column);
export const name = (identifier: string): Sql => sql.id(identifier);
