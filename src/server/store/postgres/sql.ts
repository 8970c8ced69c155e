// SQL is composed with Kysely and compiled to text, which `pg` executes. Kysely itself never uses a connection.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Sql = RawBuilder<unknown>;

const compiler = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

export function compile(query: Sql): Statement {
  const { sql: text, parameters } = query.compile(compiler);
  return { text, values: parameters };
}

/** The text of a statement without parameters. */
export const textOf = (query: Sql): string => compile(query).text;

export const list = (parts: readonly Sql[]): Sql => sql.join(parts, sql`, `);
export const allOf = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`true` : parts.length === 1 ? parts[0]! : sql`(${sql.join(parts, sql` AND `)})`;
export const anyOf = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`false` : parts.length === 1 ? parts[0]! : sql`(${sql.join(parts, sql` OR `)})`;
/** A column of the row with this alias. */
export const col = (alias: string, column: string): Sql => sql`${sql.id(alias, column)}`;
export const name = (identifier: string): Sql => sql`${sql.id(identifier)}`;

export { sql };
