// Translates `Select` to SQL: ordering, keyset paging, and query forms that let an index return the first rows.
import type { Direction, OrderTerm, Position, Predicate, Scalar, Select } from "../query.ts";
import { and, everything, not, nothing, or } from "../query.ts";
import type { ColumnSpec } from "../table.ts";
import type { Layout, Reading } from "./layout.ts";
import { operand } from "./leaf-conditions.ts";
import { Conditions, hasMembers, type LayoutOf } from "./predicate.ts";
import { allOf, anyOf, col, list, name, type Sql, sql } from "./sql.ts";

const ROW = "t0";
const KEYS = "keys";

interface Term {
  readonly expr: Sql;
  readonly spec: ColumnSpec;
  /** Whether the ordering value can be null, because the column is nullable or the related row may be missing. */
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
 * One part of the result. If `guess` returns as many rows as are still needed, they are the result; otherwise `full`
 * is run. The guess examines only the first rows in the order: if many rows match, that is enough, and no index has
 * to support both the order and the condition.
 */
interface Stretch {
  readonly guess: Sql | null;
  readonly full: Sql;
}

/** Number of rows that a guess examines. */
const MAX_CANDIDATES = 3000;
/**
 * Candidates where the members of related rows are tested: that takes longer for each row, and without a guess, an
 * index finds them.
 */
const CANDIDATES_WITH_MEMBERS = 500;
/** How many times more rows a statement is planned for if its rows may all be at the end of the order. */
const CAUTION = 300;
/**
 * Lists of up to this many rows first select ids and order values, then read the other columns: sorting copies whole
 * rows.
 */
const FEW_ROWS = 1000;
/** Rows with fewer columns than this are sorted as a whole just as quickly. */
const WIDE_COLUMNS = 8;

const SORT = { asc: sql`ASC NULLS LAST`, desc: sql`DESC NULLS FIRST` } as const;

class SelectBuilder {
  readonly #layoutOf: LayoutOf;
  readonly #layout: Layout;
  readonly #conditions: Conditions;
  readonly #select: Select;
  readonly #columns: readonly string[];
  readonly #reading: Reading;
  readonly #terms: readonly Term[];

  constructor(layoutOf: LayoutOf, layout: Layout, select: Select, columns: readonly string[], reading: Reading) {
    this.#layoutOf = layoutOf;
    this.#layout = layout;
    this.#select = select;
    this.#columns = columns;
    this.#reading = reading;
    this.#conditions = new Conditions(layoutOf);
    this.#terms = this.#orderTerms(select.order ?? []);
  }

  #orderTerms(order: readonly OrderTerm[]): Term[] {
    const terms: Term[] = [];
    for (const { column, direction, of, on } of order) {
      if (of) {
        const layout = this.#layoutOf(of.name);
        const alias = this.#conditions.alias();
        const spec = layout.comparable(column);
        const local = this.#layout.spec(on ?? "id");
        // A non-nullable reference always has its row. A row that shares this row's id may be missing.
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
      const spec = this.#layout.comparable(column);
      terms.push({ expr: col(ROW, column), spec, nullable: spec.nullable, direction, related: null });
      // Ids are unique, so later terms have no effect.
      if (column === "id") return terms;
    }
    const tie = order.at(-1)?.direction ?? "asc";
    return [
      ...terms,
      { expr: col(ROW, "id"), spec: this.#layout.spec("id"), nullable: false, direction: tie, related: null },
    ];
  }

  /** The parts that, run one after the other up to the limit, give the result. */
  build(): Stretch[] {
    const { after, limit, offset, few = false } = this.#select;
    const [first] = this.#terms;
    const simple = this.#terms.length === 2 && limit !== undefined && !offset;
    // A single query with nulls at one end would read everything before the position, or sort all rows of an outer
    // join. As two parts, the rows with a value and those without can each be read from an index.
    if (simple && !few && first?.nullable && (first.related || after)) return this.#apart(first, after);
    const position = after ? [this.#after(this.#positions(after))] : [];
    return [this.#stretch(position, this.#terms, offset)];
  }

  /** `lacking`: selects the rows without an ordering value, of which there are few if any. */
  #stretch(conditions: readonly Sql[], order: readonly Term[], offset: number | undefined, lacking = false): Stretch {
    const { limit } = this.#select;
    const bounded = limit === undefined ? sql`` : sql` LIMIT ${limit}::bigint`;
    const tail = sql`${bounded}${offset ? sql` OFFSET ${offset}::bigint` : sql``}`;
    const [first] = order;
    const partner =
      first?.related && conditions.includes(HAS_VALUE) && this.#sharesIds(first.related) ? first.related : null;
    this.#conditions.partner = partner && { table: partner.layout.table.name, alias: partner.alias, of: ROW };
    this.#conditions.findsMembers = true;
    const filter = this.#select.where ?? everything;
    const where = partner ? withPartner(filter, partner.layout.table.name) : filter;
    const picked = where.op === "all" ? null : this.#conditions.conditionOf(where, this.#layout, ROW);
    const late = limit !== undefined && limit <= FEW_ROWS && this.#columns.length >= WIDE_COLUMNS;
    if (!late) {
      const rows = this.#reading.select(ROW);
      return { guess: null, full: this.#statement(rows, conditions, order, picked, tail) };
    }
    const keys = list(order.map(({ expr }, i) => sql`${expr} AS ${name(`k${i}`)}`));
    const apart = partner !== null && concernsOnly(where, partner.layout.table.name);
    const candidates = testsMembers(where) ? CANDIDATES_WITH_MEMBERS : MAX_CANDIDATES;
    const guess =
      picked && !this.#select.few && !apart && !offset && !lacking && (!this.#served(order[0]!) || probes(where))
        ? this.#rowsOf(
            this.#statement(keys, conditions, order, null, sql` LIMIT ${candidates}::bigint`, partner !== null),
            order,
            this.#ofCandidates(where),
            bounded,
          )
        : null;
    const keysOf = (end: Sql) => this.#statement(keys, conditions, order, picked, end, apart);
    const isCautious = !this.#select.transient && this.#served(order[0]!) && picksByMember(where);
    const plannedRows = (limit + (offset ?? 0)) * CAUTION;
    const keyRows = isCautious ? cautious(keysOf, order.length, plannedRows, tail) : keysOf(tail);
    return { guess, full: this.#rowsOf(keyRows, order, null, sql``) };
  }

  /** The condition for a guess, which joins no related row and tests few rows. */
  #ofCandidates(where: Predicate): Sql {
    this.#conditions.partner = null;
    this.#conditions.findsMembers = false;
    return this.#conditions.conditionOf(where, this.#layout, ROW);
  }

  /** `apart`: the condition concerns only the related table, so the table's own rows need not be read. */
  #statement(
    what: Sql,
    conditions: readonly Sql[],
    order: readonly Term[],
    picked: Sql | null,
    tail: Sql,
    apart = false,
  ): Sql {
    const by = list(order.map(({ expr, direction }) => sql`${expr} ${SORT[direction]}`));
    const where = allOf(picked ? [picked, ...conditions] : conditions);
    return sql`SELECT ${what} FROM ${this.#from(conditions, order, apart)} WHERE ${where} ORDER BY ${by}${tail}`;
  }

  #from(conditions: readonly Sql[], order: readonly Term[], apart: boolean): Sql {
    const certain = conditions.includes(HAS_VALUE);
    const related = order[0]?.related;
    if (apart && related) return sql`${name(related.layout.table.name)} AS ${name(related.alias)}`;
    const joins = order.map(({ related, nullable }) => {
      if (!related) return sql``;
      const join = nullable && !certain ? sql` LEFT JOIN ` : sql` JOIN `;
      const on = sql`${col(related.alias, "id")} = ${col(ROW, related.on)}`;
      return sql`${join}${name(related.layout.table.name)} AS ${name(related.alias)} ON ${on}`;
    });
    return sql`${name(this.#layout.table.name)} AS ${name(ROW)}${sql.join(joins, "")}`;
  }

  /** Joins the rows to the keys that a statement returned, in the same order. */
  #rowsOf(keys: Sql, order: readonly Term[], picked: Sql | null, tail: Sql): Sql {
    const key = (i: number) => col(KEYS, `k${i}`);
    const by = list(order.map(({ direction }, i) => sql`${key(i)} ${SORT[direction]}`));
    const table = sql`${name(this.#layout.table.name)} AS ${name(ROW)}`;
    const rows = sql`(${keys}) AS ${name(KEYS)} JOIN ${table} ON ${col(ROW, "id")} = ${key(order.length - 1)}`;
    const where = picked ? sql` WHERE ${picked}` : sql``;
    return sql`SELECT ${this.#reading.select(ROW)} FROM ${rows}${where} ORDER BY ${by}${tail}`;
  }

  /** Whether an index can return the first rows in this order. */
  #served({ spec, related }: Term): boolean {
    return related === null && (spec.kind === "id" || spec.indexed || spec.ordered || spec.unique);
  }

  #sharesIds({ layout, on }: { layout: Layout; on: string }): boolean {
    return on === "id" && layout.spec("id").to === this.#layout.table.name;
  }

  #apart(first: Term, after: Position | undefined): Stretch[] {
    const tie = this.#terms[1]!;
    const [value, id] = after ? this.#positions(after) : [undefined, undefined];
    const beyond = (terms: readonly Term[], position: readonly (Sql | null)[]) => this.#after(position, terms);
    const certain: Term = { ...first, nullable: false };
    // With shared ids, the related row's id comes from the same index as its value.
    const sameId = first.related?.on === "id" ? { ...tie, expr: col(first.related.alias, "id") } : tie;

    const withValue = () => {
      const past = value && id ? [beyond([certain, sameId], [value, id])] : [];
      return this.#stretch([HAS_VALUE, sql`${first.expr} IS NOT NULL`, ...past], [certain, sameId], undefined);
    };
    const without = () => {
      const past = after && value === null && id ? [beyond([tie], [id])] : [];
      return this.#stretch([this.#lacks(first), ...past], [tie], undefined, first.related !== null);
    };

    if (first.direction === "asc") return value === null ? [without()] : [withValue(), without()];
    return value ? [withValue()] : [without(), withValue()];
  }

  /** The condition that the row has no value for the term. */
  #lacks({ expr, related, spec }: Term): Sql {
    if (!related) return sql`${expr} IS NULL`;
    const { alias, layout, on } = related;
    const table = name(this.#layout.table.name);
    const other = name(layout.table.name);
    const local = this.#layout.spec(on);
    // A reference always has its target, so the value is missing only if the reference is null.
    if (local.kind === "ref" && local.to === layout.table.name && !spec.nullable) return sql`${col(ROW, on)} IS NULL`;
    const where = sql`${col(alias, "id")} = ${col(ROW, on)} AND ${expr} IS NOT NULL`;
    const lacking = sql`NOT EXISTS (SELECT 1 FROM ${other} AS ${name(alias)} WHERE ${where})`;
    if (!this.#sharesIds(related)) return lacking;
    // The other table has at most as many rows, and usually exactly as many: comparing counts is cheaper than
    // searching for missing rows.
    const present = spec.nullable ? sql` AS ${name(alias)} WHERE ${expr} IS NOT NULL` : sql``;
    return sql`(SELECT count(*) FROM ${table}) > (SELECT count(*) FROM ${other}${present}) AND ${lacking}`;
  }

  #positions(after: Position): (Sql | null)[] {
    return this.#terms.map(({ spec }, i) => {
      const value: Scalar | null = after[i] ?? null;
      return value === null ? null : operand(spec, value);
    });
  }

  /** The condition for rows strictly after the position in the order of the terms. */
  #after(position: readonly (Sql | null)[], terms: readonly Term[] = this.#terms): Sql {
    const [first] = terms;
    const direction = first?.direction;
    const values = position.filter((value) => value !== null);
    if (values.length === terms.length && terms.every((term) => !term.nullable && term.direction === direction)) {
      const operator = direction === "asc" ? sql`>` : sql`<`;
      const position = sql`(${list(terms.map(({ expr }) => expr))}) ${operator} (${list(values)})`;
      // For terms from two tables no index supports the row comparison, but an index may support a condition on the
      // first term.
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

/** Whether rows are sought by a member of one of their own columns. */
const picksByMember = (where: Predicate): boolean =>
  where.op === "has" || (where.op === "and" && where.parts.some(picksByMember));

/**
 * Postgres assumes that the rows with a member are evenly spread over the order, reads it from its start, and reads
 * everything if they are all at its end. So the statement is planned for many more rows than are then fetched: few rows
 * are found by the index on the members, and many by the order.
 */
function cautious(keysOf: (tail: Sql) => Sql, terms: number, plannedRows: number, tail: Sql): Sql {
  const names = list(Array.from({ length: terms }, (_, i) => name(`k${i}`)));
  const rows = keysOf(sql` LIMIT ${plannedRows}::bigint`);
  return sql`WITH planned AS MATERIALIZED (${rows}) SELECT ${names} FROM planned${tail}`;
}

/** Marks a statement whose first term always has a value, so that an inner join is enough. */
const HAS_VALUE = sql`true`;

const equal = ({ expr }: Term, value: Sql | null): Sql =>
  value === null ? sql`${expr} IS NULL` : sql`${expr} = ${value}`;

/** Null sorts as the greatest value. */
function beyond({ expr, nullable, direction }: Term, value: Sql | null): Sql {
  if (direction === "desc") return value === null ? sql`${expr} IS NOT NULL` : sql`${expr} < ${value}`;
  if (value === null) return sql`false`;
  return nullable ? anyOf([sql`${expr} > ${value}`, sql`${expr} IS NULL`]) : sql`${expr} > ${value}`;
}

const shares = (where: Predicate, table: string): boolean =>
  where.op === "exists" && where.table.name === table && where.column === "id" && where.local === "id";

/** Simplifies the condition, given that the row with the same id exists in `table`. */
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

/** Whether the condition concerns only rows of `table`, which shares the ids of the rows to find. */
function concernsOnly(where: Predicate, table: string): boolean {
  if (where.op === "and" || where.op === "or") return where.parts.every((part) => concernsOnly(part, table));
  if (where.op === "not") return concernsOnly(where.part, table);
  if (where.op === "exists") return shares(where, table);
  return where.op === "all" || where.op === "none";
}

/**
 * Whether rows have to be checked against another table one by one instead of by a join, which is slow for many rows.
 */
function probes(where: Predicate, alone = false): boolean {
  if (where.op === "and" || where.op === "or")
    return where.parts.some((part) => probes(part, alone || where.op === "or"));
  if (where.op === "not") return probes(where.part, true);
  return alone && where.op === "exists";
}

/** Whether an alternative is about the members of related rows, which `Conditions.findsMembers` finds by an index. */
function testsMembers(where: Predicate): boolean {
  if (where.op === "or") return where.parts.some(hasMembers);
  return where.op === "and" && where.parts.some(testsMembers);
}

/**
 * The texts of a row that was read as a record are parts of one text, so keeping one of them keeps all. A limit must be
 * one at which the ids are selected first: Postgres would otherwise render rows that it then sorts and cuts off.
 */
const readsRecords = ({ limit, transient }: Select): boolean =>
  transient === true && (limit === undefined || limit <= FEW_ROWS);

export function selects(
  layoutOf: LayoutOf,
  layout: Layout,
  select: Select,
  columns: readonly string[],
): { stretches: Stretch[]; reading: Reading } {
  const reading = layout.reading(columns, readsRecords(select));
  return { stretches: new SelectBuilder(layoutOf, layout, select, columns, reading).build(), reading };
}
