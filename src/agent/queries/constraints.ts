// What a query compares the columns of a table with. SQLite in WebAssembly offers no virtual tables, through which it
// would report this itself.
import type { Constraint } from "../tables/table.ts";

const LITERAL = `'((?:[^']|'')*)'`;
const unquoted = (literal: string) => literal.replaceAll("''", "'");

/** Comparisons with literal texts: `path = '/a'`, `path LIKE '/a/%'`, `path IN ('/a', '/b')`; also turned around. */
export function constraintsOf(sql: string, columns: readonly string[]): Record<string, Constraint[]> {
  const constraints: Record<string, Constraint[]> = {};
  for (const column of columns) {
    const name = `(?:\\b\\w+\\.)?["\`[]?\\b${column}\\b["\`\\]]?`;
    const values: Constraint[] = [];
    for (const [, operator, literal] of sql.matchAll(
      new RegExp(`${name}\\s*(==?|LIKE\\b|GLOB\\b)\\s*${LITERAL}`, "gi"),
    ))
      values.push({ value: unquoted(literal!), isLike: !operator!.startsWith("=") });
    for (const [, literal] of sql.matchAll(new RegExp(`${LITERAL}\\s*==?\\s*${name}`, "gi")))
      values.push({ value: unquoted(literal!), isLike: false });
    for (const [, list] of sql.matchAll(new RegExp(`${name}\\s*IN\\s*\\(((?:\\s*${LITERAL}\\s*,?)+)\\)`, "gi")))
      for (const [, literal] of list!.matchAll(new RegExp(LITERAL, "g")))
        values.push({ value: unquoted(literal!), isLike: false });
    constraints[column] = values;
  }
  return constraints;
}
