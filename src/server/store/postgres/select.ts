// `Select` as SQL: order, keyset position, and the forms that let an index serve the first rows.
import type { Direction, OrderTerm, Position, Predicate, Scalar, Select } from "../query.ts";
import { and, everything, not, nothing, or } from "../query.ts";
import type { ColumnSpec } from "../table.ts";
import type { Layout } from "./layout.ts";
import { Conditions, type LayoutOf, operand } from "./predicate.ts";
import { allOf, anyOf, col, list, name, type Sql, sql } from "./sql.ts";

const ROW = "t0";
const KEYS = "keys";

interface Term {
  readonly expr: Sql;
  readonly spec: ColumnSpec;
  /** Null can stand in the order: the column may be null, or the related row may be missing. */
  readonly nullable: boolean;
  readonly direction: Direction;
  readonly related: {
    readonly alias: string;
    readonly layout: Layout;
    readonly on: string;
    readonly column: string;
  } | null;
}

/**
 * One stretch of the answer. Where `guess` gives as many rows as are still wanted, they are the answer; else `full` gives it. The guess looks
 * only at the first rows in the order: with a condition that many rows meet that is enough, and no index need serve order and condition.
 */
export interface Stretch {
  readonly guess: Sql | null;
  readonly full: Sql;
}

/** Rows that a guess looks at. */
const CANDIDATES = 3000;
/** Up to this many rows a list is found by its ids and order first, and the rest of the rows read then: sorting copies whole rows. */
const FEW = 1000;
/** Rows of fewer columns than this are as quickly sorted whole. */
const WIDE = 8;

const SORT = { asc: sql`ASC NULLS LAST`, desc: sql`DESC NULLS FIRST` } as const;

class SelectBuilder {
  private readonly layoutOf: LayoutOf;
  private readonly layout: Layout;
  private readonly conditions: Conditions;
  private readonly select: Select;
  private readonly columns: readonly string[];
  private readonly terms: readonly Term[];

  constructor(layoutOf: LayoutOf, layout: Layout, select: Select, columns: readonly string[]) {
    this.layoutOf = layoutOf;
    this.layout = layout;
    this.select = select;
    this.columns = columns;
    this.conditions = new Conditions(layoutOf);
    this.terms = this.orderTerms(select.order ?? []);
  }

  private orderTerms(order: readonly OrderTerm[]): Term[] {
    const terms: Term[] = [];
    for (const { column, direction, of, on } of order) {
      if (of) {
        const layout = this.layoutOf(of.name);
        const alias = this.conditions.alias();
        const spec = layout.comparable(column);
        const local = this.layout.spec(on ?? "id");
        // A reference that cannot be null always has its row; a row that shares this one's id may be missing.
        const total = local.to === of.name && local.kind !== "ids" && !local.nullable && !spec.nullable;
        terms.push({
          expr: col(alias, column),
          spec,
          nullable: !total,
          direction,
          related: { alias, layout, on: on ?? "id", column },
        });
        continue;
      }
      const spec = this.layout.comparable(column);
      terms.push({ expr: col(ROW, column), spec, nullable: spec.nullable, direction, related: null });
      // Ids differ: what comes after one in the order decides nothing.
      if (column === "id") return terms;
    }
    const tie = order.at(-1)?.direction ?? "asc";
    return [
      ...terms,
      { expr: col(ROW, "id"), spec: this.layout.spec("id"), nullable: false, direction: tie, related: null },
    ];
  }

  /** The stretches whose rows, one after the other up to the limit, are the answer. */
  build(): Stretch[] {
    const { after, limit, offset } = this.select;
    const [first] = this.terms;
    const simple = this.terms.length === 2 && limit !== undefined && !offset;
    // One query with nulls on one end reads everything before the position, or sorts all rows of an outer join. Apart, the rows with
    // a value and those without each come from an index.
    if (simple && first?.nullable && (first.related || after)) return this.apart(first, after);
    const position = after ? [this.after(this.positions(after))] : [];
    return [this.stretch(position, this.terms, offset)];
  }

  /** `lacking`: rows without a value for the order, which are few where they are any. */
  private stretch(
    conditions: readonly Sql[],
    order: readonly Term[],
    offset: number | undefined,
    lacking = false,
  ): Stretch {
    const { limit } = this.select;
    const bounded = limit === undefined ? sql`` : sql` LIMIT ${limit}::bigint`;
    const tail = sql`${bounded}${offset ? sql` OFFSET ${offset}::bigint` : sql``}`;
    const [first] = order;
    const partner =
      first?.related && conditions.includes(HAS_VALUE) && this.sharesIds(first.related) ? first.related : null;
    this.conditions.partner = partner && { table: partner.layout.table.name, alias: partner.alias, of: ROW };
    const asked = this.select.where ?? everything;
    const where = partner ? withPartner(asked, partner.layout.table.name) : asked;
    const picked = where.op === "all" ? null : this.conditions.of(where, this.layout, ROW);
    const late = limit !== undefined && limit <= FEW && this.columns.length >= WIDE;
    if (!late) {
      const rows = this.layout.selectList(ROW, this.columns);
      return { guess: null, full: this.statement(rows, conditions, order, picked, tail) };
    }
    const keys = list(order.map(({ expr }, i) => sql`${expr} AS ${name(`k${i}`)}`));
    const apart = partner !== null && concernsOnly(where, partner.layout.table.name);
    const guess =
      picked && !apart && !offset && !lacking && (!this.served(order[0]!) || probes(where))
        ? this.rowsOf(
            this.statement(keys, conditions, order, null, sql` LIMIT ${CANDIDATES}::bigint`, partner !== null),
            order,
            this.unpartnered(where),
            bounded,
          )
        : null;
    return {
      guess,
      full: this.rowsOf(this.statement(keys, conditions, order, picked, tail, apart), order, null, sql``),
    };
  }

  /** The condition where the related row is not at hand. */
  private unpartnered(where: Predicate): Sql {
    this.conditions.partner = null;
    return this.conditions.of(where, this.layout, ROW);
  }

  /** `apart`: nothing is asked of the table's own rows, so that those that share their ids serve alone. */
  private statement(
    what: Sql,
    conditions: readonly Sql[],
    order: readonly Term[],
    picked: Sql | null,
    tail: Sql,
    apart = false,
  ): Sql {
    const by = list(order.map(({ expr, direction }) => sql`${expr} ${SORT[direction]}`));
    const where = allOf(picked ? [picked, ...conditions] : conditions);
    return sql`SELECT ${what} FROM ${this.from(conditions, order, apart)} WHERE ${where} ORDER BY ${by}${tail}`;
  }

  private from(conditions: readonly Sql[], order: readonly Term[], apart: boolean): Sql {
    const certain = conditions.includes(HAS_VALUE);
    const related = order[0]?.related;
    if (apart && related) return sql`${name(related.layout.table.name)} AS ${name(related.alias)}`;
    const joins = order.map(({ related, nullable }) => {
      if (!related) return sql``;
      const join = nullable && !certain ? sql` LEFT JOIN ` : sql` JOIN `;
      const on = sql`${col(related.alias, "id")} = ${col(ROW, related.on)}`;
      return sql`${join}${name(related.layout.table.name)} AS ${name(related.alias)} ON ${on}`;
    });
    return sql`${name(this.layout.table.name)} AS ${name(ROW)}${sql.join(joins, sql``)}`;
  }

  /** The rows of the keys that a statement gave, in the same order. */
  private rowsOf(keys: Sql, order: readonly Term[], picked: Sql | null, tail: Sql): Sql {
    const key = (i: number) => col(KEYS, `k${i}`);
    const by = list(order.map(({ direction }, i) => sql`${key(i)} ${SORT[direction]}`));
    const own = sql`${name(this.layout.table.name)} AS ${name(ROW)}`;
    const rows = sql`(${keys}) AS ${name(KEYS)} JOIN ${own} ON ${col(ROW, "id")} = ${key(order.length - 1)}`;
    const where = picked ? sql` WHERE ${picked}` : sql``;
    return sql`SELECT ${this.layout.selectList(ROW, this.columns)} FROM ${rows}${where} ORDER BY ${by}${tail}`;
  }

  /** The first rows in the order come from an index. */
  private served({ spec, related }: Term): boolean {
    return related === null && (spec.kind === "id" || spec.indexed || spec.ordered || spec.unique);
  }

  private sharesIds({ layout, on }: { layout: Layout; on: string }): boolean {
    return on === "id" && layout.spec("id").to === this.layout.table.name;
  }

  private apart(first: Term, after: Position | undefined): Stretch[] {
    const tie = this.terms[1]!;
    const [value, id] = after ? this.positions(after) : [undefined, undefined];
    const beyond = (terms: readonly Term[], position: readonly (Sql | null)[]) => this.after(position, terms);
    const certain: Term = { ...first, nullable: false };
    // The related row's own id, where it is the same, comes from the same index as its value.
    const sameId = first.related?.on === "id" ? { ...tie, expr: col(first.related.alias, "id") } : tie;

    const withValue = () => {
      const past = value && id ? [beyond([certain, sameId], [value, id])] : [];
      return this.stretch([HAS_VALUE, sql`${first.expr} IS NOT NULL`, ...past], [certain, sameId], undefined);
    };
    const without = () => {
      const past = after && value === null && id ? [beyond([tie], [id])] : [];
      return this.stretch([this.lacks(first), ...past], [tie], undefined, first.related !== null);
    };

    if (first.direction === "asc") return value === null ? [without()] : [withValue(), without()];
    return value ? [withValue()] : [without(), withValue()];
  }

  /** The row has no value for the term. */
  private lacks({ expr, related, spec }: Term): Sql {
    if (!related) return sql`${expr} IS NULL`;
    const { alias, layout, on } = related;
    const own = name(this.layout.table.name);
    const other = name(layout.table.name);
    const local = this.layout.spec(on);
    // What a reference refers to is there.
    if (local.kind === "ref" && local.to === layout.table.name && !spec.nullable) return sql`${col(ROW, on)} IS NULL`;
    const where = sql`${col(alias, "id")} = ${col(ROW, on)} AND ${expr} IS NOT NULL`;
    const lacking = sql`NOT EXISTS (SELECT 1 FROM ${other} AS ${name(alias)} WHERE ${where})`;
    if (!this.sharesIds(related)) return lacking;
    // Rows that share this table's ids are at most as many. Mostly they are as many, and to count is cheaper than to look for those without.
    const present = spec.nullable ? sql` AS ${name(alias)} WHERE ${expr} IS NOT NULL` : sql``;
    return sql`(SELECT count(*) FROM ${own}) > (SELECT count(*) FROM ${other}${present}) AND ${lacking}`;
  }

  private positions(after: Position): (Sql | null)[] {
    return this.terms.map(({ spec }, i) => {
      const value: Scalar | null = after[i] ?? null;
      return value === null ? null : operand(spec, value);
    });
  }

  /** Strictly after the position, in the order of the terms. */
  private after(position: readonly (Sql | null)[], terms: readonly Term[] = this.terms): Sql {
    const [first] = terms;
    const direction = first?.direction;
    const values = position.filter((value) => value !== null);
    if (values.length === terms.length && terms.every((term) => !term.nullable && term.direction === direction)) {
      const operator = direction === "asc" ? sql`>` : sql`<`;
      const position = sql`(${list(terms.map(({ expr }) => expr))}) ${operator} (${list(values)})`;
      // Over two tables no index serves the comparison of the pair; that of its first member can be served.
      const apart = first?.related && first.related.on !== "id";
      return apart ? allOf([sql`${first.expr} ${operator}= ${values[0]}`, position]) : position;
    }
    const ways = terms.map((term, i) => {
      const same = terms.slice(0, i).map((earlier, at) => equal(earlier, position[at] ?? null));
      return allOf([...same, beyond(term, position[i] ?? null)]);
    });
    return anyOf(ways);
  }
}

/** Marks a statement whose first term is known to have a value, so that its join may be an inner one. */
const HAS_VALUE = sql`true`;

const equal = ({ expr }: Term, value: Sql | null): Sql =>
  value === null ? sql`${expr} IS NULL` : sql`${expr} = ${value}`;

/** Null is greater than everything. */
function beyond({ expr, nullable, direction }: Term, value: Sql | null): Sql {
  if (direction === "desc") return value === null ? sql`${expr} IS NOT NULL` : sql`${expr} < ${value}`;
  if (value === null) return sql`false`;
  return nullable ? anyOf([sql`${expr} > ${value}`, sql`${expr} IS NULL`]) : sql`${expr} > ${value}`;
}

const shares = (where: Predicate, table: string): boolean =>
  where.op === "exists" && where.table.name === table && where.column === "id" && where.local === "id";

/** The condition where the row of that table with the same id is known to be there. */
function withPartner(where: Predicate, table: string): Predicate {
  if (where.op === "not") {
    const part = withPartner(where.part, table);
    return part.op === "all" ? nothing : part.op === "none" ? everything : not(part);
  }
  if (where.op === "exists") return shares(where, table) && where.where.op === "all" ? everything : where;
  if (where.op !== "and" && where.op !== "or") return where;
  const parts = where.parts.map((part) => withPartner(part, table));
  const [decides, idle] = where.op === "and" ? (["none", "all"] as const) : (["all", "none"] as const);
  if (parts.some(({ op }) => op === decides)) return where.op === "and" ? nothing : everything;
  const kept = parts.filter(({ op }) => op !== idle);
  return where.op === "and" ? and(...kept) : or(...kept);
}

/** Rows of that table, which share the ids of those asked for, decide alone. */
function concernsOnly(where: Predicate, table: string): boolean {
  if (where.op === "and" || where.op === "or") return where.parts.every((part) => concernsOnly(part, table));
  if (where.op === "not") return concernsOnly(where.part, table);
  if (where.op === "exists") return shares(where, table);
  return where.op === "all" || where.op === "none";
}

/** A row is held against another table on its own, not by joining the two: for many rows that is slow. */
function probes(where: Predicate, alone = false): boolean {
  if (where.op === "and" || where.op === "or")
    return where.parts.some((part) => probes(part, alone || where.op === "or"));
  if (where.op === "not") return probes(where.part, true);
  return alone && where.op === "exists";
}

export const selects = (layoutOf: LayoutOf, layout: Layout, select: Select, columns: readonly string[]): Stretch[] =>
  new SelectBuilder(layoutOf, layout, select, columns).build();
