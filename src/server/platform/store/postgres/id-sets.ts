// Evaluates conditions that concern only related rows as sets of ids. The table's own rows are then not read, and no
// part of an "or" is tested row by row.
import type { Predicate } from "../query.ts";
import type { Conditions, LayoutOf } from "./predicate.ts";
import { col, name, type Sql, sql } from "./sql.ts";

/**
 * A query of the ids; only "and" returns each id once. Null if a part of the condition concerns the table's own
 * columns.
 */
function idsOf(where: Predicate, table: string, layoutOf: LayoutOf, conditions: Conditions): Sql | null {
  const all = (parts: readonly Predicate[]): Sql[] | null => {
    const queries = parts.map((part) => idsOf(part, table, layoutOf, conditions));
    return queries.every((part) => part !== null) ? queries : null;
  };
  switch (where.op) {
    case "exists": {
      const other = layoutOf(where.table.name);
      const { to, nullable } = other.spec(where.column);
      if (where.local !== "id" || to !== table || nullable) return null;
      const inner = conditions.alias();
      const condition = conditions.conditionOf(where.where, other, inner);
      return sql`(SELECT ${col(inner, where.column)} AS id FROM ${name(where.table.name)} AS ${name(inner)} WHERE ${condition})`;
    }
    case "or": {
      const parts = all(where.parts);
      if (!parts || parts.length === 0) return null;
      return sql`(${sql.join(parts, " UNION ALL ")})`;
    }
    case "and": {
      const has = all(where.parts.filter((part) => part.op !== "not"));
      const hasNot = all(where.parts.flatMap((part) => (part.op === "not" ? [part.part] : [])));
      if (!has || has.length === 0 || !hasNot || where.parts.length < 2) return null;
      const minus = hasNot.map((part) => sql` EXCEPT ${part}`);
      return sql`(${sql.join(has, " INTERSECT ")}${sql.join(minus, "")})`;
    }
    default:
      return null;
  }
}

/** A query that counts the rows from sets of ids, or null if the condition cannot be expressed that way. */
export function countOfIds(where: Predicate, table: string, layoutOf: LayoutOf, conditions: Conditions): Sql | null {
  const idQuery = idsOf(where, table, layoutOf, conditions);
  const ids = idQuery && where.op !== "and" ? sql`(SELECT DISTINCT id FROM ${idQuery} AS several)` : idQuery;
  return ids && sql`(SELECT count(*) FROM ${ids} AS ids)`;
}
