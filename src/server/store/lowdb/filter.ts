// Predicates against rows in memory: which rows to look at (`plan`), and whether a row satisfies (`test`).
import type { Predicate, Scalar } from "../query.ts";
import { cleanText, compareText, searchForm } from "../rows.ts";
import { type ColumnIndex, placeOf } from "./column-index.ts";
import type { Memory } from "./memory.ts";
import type { MemoryTable } from "./memory-table.ts";
import { columnSpec, comparable, type Row, type Value } from "./values.ts";

type Test = (row: Row) => boolean;
type Exists = Extract<Predicate, { op: "exists" }>;
type HasOf = Extract<Predicate, { op: "hasOf" }>;
type Range = Extract<Predicate, { op: "lt" | "lte" | "gt" | "gte" }>;

/** A set of ids that holds all rows that satisfy, and its size (about). */
export interface Plan {
  readonly cost: number;
  ids(): Iterable<number>;
}

// The store holds clean text only, so the text that it is compared with is cleaned alike.
export const cleanScalar = <T extends Scalar>(value: T): T =>
  (typeof value === "string" ? cleanText(value) : value) as T;

export function holds(sorted: readonly number[], value: number): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = sorted[middle]!;
    if (found === value) return true;
    if (found < value) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

/** One query's view of the predicates: the answer of an inner query is computed once and used for every row. */
export class Filter {
  private readonly memory: Memory;
  private readonly sets = new Map<Predicate, ReadonlySet<Value>>();

  constructor(memory: Memory) {
    this.memory = memory;
  }

  /** The rows that satisfy, in no particular order. */
  *rows(held: MemoryTable, where: Predicate): Generator<Row> {
    const plan = this.plan(held, where);
    const test = this.test(held, where, plan?.cost ?? held.rows.size);
    if (!plan) {
      for (const row of held.rows.values()) if (test(row)) yield row;
      return;
    }
    for (const id of plan.ids()) {
      const row = held.rows.get(id);
      if (row && test(row)) yield row;
    }
  }

  /** @param among how many rows are going to be tested, about */
  test(held: MemoryTable, where: Predicate, among: number): Test {
    const { table } = held;
    switch (where.op) {
      case "all":
        return () => true;
      case "none":
        return () => false;
      case "eq": {
        comparable(table, where.column);
        const { column } = where;
        const value = cleanScalar(where.value);
        return (row) => row[column] === value;
      }
      case "in": {
        comparable(table, where.column);
        const { column } = where;
        const values = new Set<unknown>(where.values.map(cleanScalar));
        return (row) => values.has(row[column]);
      }
      case "lt":
      case "lte":
      case "gt":
      case "gte":
        comparable(table, where.column);
        return rangeTest(where);
      case "null": {
        columnSpec(table, where.column);
        const { column } = where;
        return (row) => row[column] === null;
      }
      case "has": {
        const { column, values } = where;
        if (columnSpec(table, column).kind !== "ids") throw new Error(`${table.name}.${column}: not an ids column`);
        return holdsAny(column, values);
      }
      case "hasOf":
        return this.hasOfTest(held, where);
      case "contains": {
        const { column } = where;
        if (columnSpec(table, column).kind !== "text") throw new Error(`${table.name}.${column}: not a text column`);
        comparable(table, column);
        const needle = asciiLower(cleanText(where.text));
        return (row) => row[column] !== null && asciiLower(row[column] as string).includes(needle);
      }
      case "search":
        return searchTest(held, where.columns, where.text);
      case "and": {
        const tests = where.parts.map((part) => this.test(held, part, among));
        return (row) => tests.every((test) => test(row));
      }
      case "or": {
        const tests = where.parts.map((part) => this.test(held, part, among));
        return (row) => tests.some((test) => test(row));
      }
      case "not": {
        const test = this.test(held, where.part, among);
        return (row) => !test(row);
      }
      case "exists":
        return this.existsTest(held, where, among);
    }
  }

  private existsTest(held: MemoryTable, where: Exists, among: number): Test {
    const inner = this.memory.of(where.table);
    comparable(held.table, where.local);
    comparable(where.table, where.column);
    const { local, column } = where;
    const index = inner.indexOn(column);
    const onId = column === "id";
    const innerCost = this.plan(inner, where.where)?.cost ?? inner.rows.size;
    const perProbe = onId ? 1 : index ? inner.rows.size / Math.max(1, index.size) : Number.POSITIVE_INFINITY;

    if (where.where.op === "all" && (onId || index))
      return (row) => {
        const value = row[local] as Value;
        return value !== null && (onId ? inner.rows.has(value as number) : index!.count(value) > 0);
      };
    if (among * perProbe < innerCost && !this.sets.has(where)) {
      const test = this.test(inner, where.where, among * perProbe);
      return (row) => {
        const value = row[local] as Value;
        if (value === null) return false;
        for (const id of onId ? [value as number] : index!.ids(value)) {
          const other = inner.rows.get(id);
          if (other && test(other)) return true;
        }
        return false;
      };
    }
    // Checked now, so that a wrong query fails also where there is no row to test.
    this.test(inner, where.where, 0);
    return (row) => row[local] !== null && this.valuesOf(where).has(row[local] as Value);
  }

  private hasOfTest(held: MemoryTable, where: HasOf): Test {
    const { column, table, from } = where;
    if (columnSpec(held.table, column).kind !== "ids")
      throw new Error(`${held.table.name}.${column}: not an ids column`);
    comparable(table, from);
    this.test(this.memory.of(table), where.where, 0);
    let test: Test | null = null;
    return (row) => {
      test ??= holdsAny(column, [...this.valuesOf(where)] as number[]);
      return test(row);
    };
  }

  /** Every value of the inner column among the rows that satisfy the inner predicate. */
  private valuesOf(where: Exists | HasOf): ReadonlySet<Value> {
    const known = this.sets.get(where);
    if (known) return known;
    const values = new Set<Value>();
    const column = where.op === "exists" ? where.column : where.from;
    for (const row of this.rows(this.memory.of(where.table), where.where)) values.add(row[column] as Value);
    values.delete(null);
    this.sets.set(where, values);
    return values;
  }

  plan(held: MemoryTable, where: Predicate): Plan | null {
    switch (where.op) {
      case "none":
        return { cost: 0, ids: () => [] };
      case "eq":
        return keysPlan(held, where.column, [where.value]);
      case "in":
        return keysPlan(held, where.column, where.values);
      case "null": {
        const index = held.indexOn(where.column);
        return index && { cost: index.count(null), ids: () => index.ids(null) };
      }
      case "lt":
      case "lte":
      case "gt":
      case "gte":
        return rangePlan(held, where.column, [where]);
      case "and":
        return this.andPlan(held, where.parts);
      case "or":
        return this.orPlan(held, where.parts);
      case "exists":
        return this.existsPlan(held, where);
      default:
        return null;
    }
  }

  private andPlan(held: MemoryTable, parts: readonly Predicate[]): Plan | null {
    const plans: (Plan | null)[] = [];
    const equal = new Map<string, Value>();
    const ranges = new Map<string, Range[]>();
    for (const part of parts) {
      if (part.op === "eq") equal.set(part.column, cleanScalar(part.value));
      if (part.op === "null") equal.set(part.column, null);
      if (part.op === "lt" || part.op === "lte" || part.op === "gt" || part.op === "gte")
        ranges.set(part.column, [...(ranges.get(part.column) ?? []), part]);
      else plans.push(this.plan(held, part));
    }
    for (const [column, bounds] of ranges) plans.push(rangePlan(held, column, bounds));
    for (const index of held.indexes) {
      if (index.columns.length === 1 || !index.columns.every((column) => equal.has(column))) continue;
      const key = index.keyOf(Object.fromEntries(equal));
      plans.push({ cost: index.count(key), ids: () => index.ids(key) });
    }
    return plans.reduce((best, plan) => (plan && (!best || plan.cost < best.cost) ? plan : best), null);
  }

  private orPlan(held: MemoryTable, parts: readonly Predicate[]): Plan | null {
    const plans: Plan[] = [];
    for (const part of parts) {
      const plan = this.plan(held, part);
      if (!plan) return null;
      plans.push(plan);
    }
    const cost = plans.reduce((sum, plan) => sum + plan.cost, 0);
    if (cost >= held.rows.size) return null;
    return {
      cost,
      ids() {
        const all = new Set<number>();
        for (const plan of plans) for (const id of plan.ids()) all.add(id);
        return all;
      },
    };
  }

  private existsPlan(held: MemoryTable, where: Exists): Plan | null {
    const index = held.indexOn(where.local);
    if (where.local !== "id" && !index) return null;
    const inner = this.memory.of(where.table);
    const cost = this.plan(inner, where.where)?.cost ?? inner.rows.size;
    // Half of the rows or more: as well look at each of them.
    if (cost * 2 > held.rows.size) return null;
    return {
      cost: index ? Math.ceil((cost * held.rows.size) / Math.max(1, index.size)) : cost,
      ids: () => idsOf(index, this.valuesOf(where)),
    };
  }
}

function* idsOf(index: ColumnIndex | null, values: Iterable<Value>): Generator<number> {
  for (const value of values) {
    if (!index) yield value as number;
    else yield* index.ids(value);
  }
}

function keysPlan(held: MemoryTable, column: string, values: readonly Scalar[]): Plan | null {
  if (column === "id")
    return { cost: values.length, ids: () => new Set(values.filter((value) => typeof value === "number")) };
  const index = held.indexOn(column);
  if (!index) return null;
  const keys = new Set<Value>(values.map(cleanScalar));
  let cost = 0;
  for (const key of keys) cost += index.count(key);
  return { cost, ids: () => idsOf(index, keys) };
}

function rangePlan(held: MemoryTable, column: string, bounds: readonly Range[]): Plan | null {
  const index = held.indexOn(column);
  if (!index) return null;
  const keys = index.sortedKeys();
  let from = 0;
  // Null, the greatest key, is in no range.
  let to = placeOf(keys, null, false);
  for (const { op, value } of bounds) {
    const key = cleanScalar(value);
    if (op === "gt" || op === "gte") from = Math.max(from, placeOf(keys, key, op === "gt"));
    else to = Math.min(to, placeOf(keys, key, op === "lte"));
  }
  const share = Math.max(0, to - from) / Math.max(1, keys.length);
  return { cost: Math.ceil(share * held.rows.size), ids: () => idsOf(index, keys.slice(from, Math.max(from, to))) };
}

function rangeTest({ op, column, value }: Range): Test {
  const bound = cleanScalar(value);
  const order: (found: string | number) => number =
    typeof bound === "string" ? (found) => compareText(found as string, bound) : (found) => (found as number) - bound;
  const within: (difference: number) => boolean =
    op === "lt" ? (d) => d < 0 : op === "lte" ? (d) => d <= 0 : op === "gt" ? (d) => d > 0 : (d) => d >= 0;
  return (row) => {
    const found = row[column] as string | number | null;
    return typeof found === typeof bound && within(order(found as string | number));
  };
}

/** More values than this are looked for among the members, fewer are looked up in them. */
const FEW = 8;

function holdsAny(column: string, values: readonly number[]): Test {
  const wanted = new Set(values);
  const any: (members: readonly number[]) => boolean =
    values.length > FEW
      ? (members) => members.some((member) => wanted.has(member))
      : (members) => values.some((value) => holds(members, value));
  return (row) => {
    const members = row[column] as readonly number[] | null;
    return members !== null && any(members);
  };
}

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function searchTest(held: MemoryTable, columns: readonly string[], text: string): Test {
  for (const column of columns)
    if (!columnSpec(held.table, column).searchable)
      throw new Error(`${held.table.name}.${column}: not declared for search`);
  const needle = searchForm(text);
  // Stored text is clean already: its search form is its lower case.
  return (row) =>
    columns.some((column) => {
      const value = row[column] as string | null;
      return value?.toLowerCase().includes(needle) ?? false;
    });
}
