// Translates predicates to SQL conditions. Negation is pushed down to the leaves: it stays two-valued there (SQL's
// NOT of unknown is unknown), and conditions keep forms that indexes support.
import type { Predicate } from "../query.ts";
import type { Layout } from "./layout.ts";
import { leafCondition, NO, orNull, YES } from "./leaf-conditions.ts";
import { allOf, anyOf, col, name, type Sql, sql } from "./sql.ts";

export type LayoutOf = (table: string) => Layout;

type HasOf = Extract<Predicate, { op: "hasOf" }>;

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

  conditionOf(predicate: Predicate, layout: Layout, alias: string, negated = false): Sql {
    switch (predicate.op) {
      case "all":
        return negated ? NO : YES;
      case "none":
        return negated ? YES : NO;
      case "not":
        return this.conditionOf(predicate.part, layout, alias, !negated);
      case "and":
      case "or": {
        const apart = !negated && predicate.op === "or" ? this.#searchedApart(predicate.parts, layout, alias) : null;
        if (apart) return apart;
        const parts = predicate.parts.map((part) => this.conditionOf(part, layout, alias, negated));
        return (predicate.op === "and") !== negated ? allOf(parts) : anyOf(parts);
      }
      case "exists":
        return this.#existsCondition(predicate, layout, alias, negated);
      case "hasOf": {
        const column = col(alias, predicate.column);
        const condition = sql`${column} && ${this.#membersOf(predicate, layout)}`;
        return negated ? orNull(sql`NOT (${condition})`, column, layout.spec(predicate.column)) : condition;
      }
      default:
        return leafCondition(predicate, layout, alias, negated);
    }
  }

  #existsCondition(predicate: Exists, layout: Layout, alias: string, negated: boolean): Sql {
    const other = this.#layoutOf(predicate.table.name);
    if (this.#isPartner(predicate, alias))
      return this.conditionOf(predicate.where, other, this.partner!.alias, negated);
    const inner = this.alias();
    const joined = sql`${col(inner, predicate.column)} = ${col(alias, predicate.local)}`;
    const where = allOf([joined, this.conditionOf(predicate.where, other, inner)]);
    const exists = sql`EXISTS (SELECT 1 FROM ${name(other.table.name)} AS ${name(inner)} WHERE ${where})`;
    return negated ? allOf([...this.#mayLack(predicate, layout, other), sql`NOT ${exists}`]) : exists;
  }

  /** The subquery does not depend on the row, so it is evaluated once and the index on the members can be used. */
  #membersOf(predicate: HasOf, layout: Layout): Sql {
    const other = this.#layoutOf(predicate.table.name);
    const inner = this.alias();
    other.comparable(predicate.from);
    if (layout.spec(predicate.column).kind !== "ids")
      throw new Error(`${layout.table.name}.${predicate.column}: not an ids column`);
    return sql`ARRAY(SELECT ${col(inner, predicate.from)} FROM ${name(other.table.name)} AS ${name(inner)} WHERE ${this.conditionOf(predicate.where, other, inner)})`;
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
        return sql`SELECT ${col(inner, "id")} FROM ${name(layout.table.name)} AS ${name(inner)} WHERE ${this.conditionOf(part, layout, inner)}`;
      const other = this.#layoutOf(part.table.name);
      const from = sql`${name(other.table.name)} AS ${name(inner)}`;
      return sql`SELECT ${col(inner, part.column)} FROM ${from} WHERE ${this.conditionOf(part.where, other, inner)}`;
    });
    return sql`${col(alias, "id")} IN (${sql.join(selects, " UNION ALL ")})`;
  }
}

type Exists = Extract<Predicate, { op: "exists" }>;

const isExists = (predicate: Predicate): predicate is Exists => predicate.op === "exists";

export const hasMembers = (predicate: Predicate): boolean => isExists(predicate) && predicate.where.op === "hasOf";

const isSearch = (predicate: Predicate): boolean =>
  predicate.op === "search" || (predicate.op === "exists" && predicate.where.op === "search");
