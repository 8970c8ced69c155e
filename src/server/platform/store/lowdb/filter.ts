// Evaluates predicates on rows in memory: `plan` selects candidate rows, `test` checks one row.
import type { Predicate, Scalar } from "../query.ts";
import { cleanText, compareText, searchForm } from "../rows.ts";
import { type ColumnIndex, placeOf } from "./column-index.ts";
import type { Memory } from "./memory.ts";
import type { MemoryTable } from "./memory-table.ts";
import { columnSpec, comparable, type MemoryRow, type Value } from "./values.ts";

type Test = (row: MemoryRow) => boolean;
type Exists = Extract<Predicate, { op: "exists" }>;
type HasOf = Extract<Predicate, { op: "hasOf" }>;
type Range = Extract<Predicate, { op: "lt" | "lte" | "gt" | "gte" }>;

/** A set of ids that contains every matching row, and its approximate size. */
interface Plan {
  readonly cost: number;
  ids(): Iterable<number>;
}

// Stored text is always cleaned, so the text to compare it with must be cleaned in the same way.
export const cleanScalar = <T extends Scalar>(value: T): T =>
  (typeof value === "string" ? cleanText(value) : value) as T;

function holds(sorted: readonly number[], value: number): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const candidate = sorted[middle]!;
    if (candidate === value) return true;
    if (candidate < value) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

/** Evaluates the predicates of one query: the result of an inner query is computed once and reused for every row. */
export class Filter {
  readonly #memory: Memory;
  readonly #sets = new Map<Predicate, ReadonlySet<Value>>();

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** The matching rows, in no particular order. */
  *rows(memoryTable: MemoryTable, where: Predicate): Generator<MemoryRow> {
    const plan = this.plan(memoryTable, where);
    const test = this.test(memoryTable, where, plan?.cost ?? memoryTable.rows.size);
    if (!plan) {
      for (const row of memoryTable.rows.values()) if (test(row)) yield row;
      return;
    }
    for (const id of plan.ids()) {
      const row = memoryTable.rows.get(id);
      if (row && test(row)) yield row;
    }
  }

  /** @param among approximate number of rows that will be tested */
  test(memoryTable: MemoryTable, where: Predicate, among: number): Test {
    const { table } = memoryTable;
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
        // Built at the first row: often there is none.
        let values: ReadonlySet<unknown> | undefined;
        return (row) => {
          values ??= new Set<unknown>(where.values.map(cleanScalar));
          return values.has(row[column]);
        };
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
        return this.#hasOfTest(memoryTable, where);
      case "contains": {
        const { column } = where;
        if (columnSpec(table, column).kind !== "text") throw new Error(`${table.name}.${column}: not a text column`);
        comparable(table, column);
        const needle = asciiLower(cleanText(where.text));
        return (row) => row[column] !== null && asciiLower(row[column] as string).includes(needle);
      }
      case "same": {
        const { column, texts } = where;
        if (!columnSpec(table, column).searchable) throw new Error(`${table.name}.${column}: not declared for search`);
        const forms = new Set(texts.map(searchForm));
        return (row) => row[column] !== null && forms.has((row[column] as string).toLowerCase());
      }
      case "search":
        return searchTest(memoryTable, where);
      case "and": {
        const tests = where.parts.map((part) => this.test(memoryTable, part, among));
        return (row) => tests.every((test) => test(row));
      }
      case "or": {
        const tests = where.parts.map((part) => this.test(memoryTable, part, among));
        return (row) => tests.some((test) => test(row));
      }
      case "not": {
        const test = this.test(memoryTable, where.part, among);
        return (row) => !test(row);
      }
      case "exists":
        return this.#existsTest(memoryTable, where, among);
    }
  }

  #existsTest(memoryTable: MemoryTable, where: Exists, among: number): Test {
    const inner = this.#memory.of(where.table);
    comparable(memoryTable.table, where.local);
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
    if (among * perProbe < innerCost && !this.#sets.has(where)) {
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
    // Validated here so that a wrong query fails even if no row is tested.
    this.test(inner, where.where, 0);
    return (row) => row[local] !== null && this.#valuesOf(where).has(row[local] as Value);
  }

  #hasOfTest(memoryTable: MemoryTable, where: HasOf): Test {
    const { column, table, from } = where;
    if (columnSpec(memoryTable.table, column).kind !== "ids")
      throw new Error(`${memoryTable.table.name}.${column}: not an ids column`);
    comparable(table, from);
    this.test(this.#memory.of(table), where.where, 0);
    let test: Test | null = null;
    return (row) => {
      test ??= holdsAny(column, [...this.#valuesOf(where)] as number[]);
      return test(row);
    };
  }

  /** All values of the inner column in the rows that match the inner predicate. */
  #valuesOf(where: Exists | HasOf): ReadonlySet<Value> {
    const cached = this.#sets.get(where);
    if (cached) return cached;
    const values = new Set<Value>();
    const column = where.op === "exists" ? where.column : where.from;
    for (const row of this.rows(this.#memory.of(where.table), where.where)) values.add(row[column] as Value);
    values.delete(null);
    this.#sets.set(where, values);
    return values;
  }

  plan(memoryTable: MemoryTable, where: Predicate): Plan | null {
    switch (where.op) {
      case "none":
        return { cost: 0, ids: () => [] };
      case "eq":
        return keysPlan(memoryTable, where.column, [where.value]);
      case "in":
        return keysPlan(memoryTable, where.column, where.values);
      case "same": {
        const isSearchable = columnSpec(memoryTable.table, where.column).searchable;
        const index = isSearchable ? memoryTable.foldedIndexOn(where.column) : null;
        return index && planOf(index, where.texts.map(searchForm));
      }
      case "search":
        return where.at === "start" ? startPlan(memoryTable, where) : null;
      case "null": {
        const index = memoryTable.indexOn(where.column);
        return index && { cost: index.count(null), ids: () => index.ids(null) };
      }
      case "lt":
      case "lte":
      case "gt":
      case "gte":
        return rangePlan(memoryTable, where.column, [where]);
      case "and":
        return this.#andPlan(memoryTable, where.parts);
      case "or":
        return this.#orPlan(memoryTable, where.parts);
      case "exists":
        return this.#existsPlan(memoryTable, where);
      default:
        return null;
    }
  }

  #andPlan(memoryTable: MemoryTable, parts: readonly Predicate[]): Plan | null {
    const plans: (Plan | null)[] = [];
    const equal = new Map<string, Value>();
    const ranges = new Map<string, Range[]>();
    for (const part of parts) {
      if (part.op === "eq") equal.set(part.column, cleanScalar(part.value));
      if (part.op === "null") equal.set(part.column, null);
      if (part.op === "lt" || part.op === "lte" || part.op === "gt" || part.op === "gte")
        ranges.set(part.column, [...(ranges.get(part.column) ?? []), part]);
      else plans.push(this.plan(memoryTable, part));
    }
    for (const [column, bounds] of ranges) plans.push(rangePlan(memoryTable, column, bounds));
    for (const index of memoryTable.indexes) {
      if (index.columns.length === 1 || !index.columns.every((column) => equal.has(column))) continue;
      const key = index.keyOf(Object.fromEntries(equal));
      plans.push({ cost: index.count(key), ids: () => index.ids(key) });
    }
    return plans.reduce((best, plan) => (plan && (!best || plan.cost < best.cost) ? plan : best), null);
  }

  #orPlan(memoryTable: MemoryTable, parts: readonly Predicate[]): Plan | null {
    const plans: Plan[] = [];
    for (const part of parts) {
      const plan = this.plan(memoryTable, part);
      if (!plan) return null;
      plans.push(plan);
    }
    return unionOf(memoryTable, plans);
  }

  #existsPlan(memoryTable: MemoryTable, where: Exists): Plan | null {
    const index = memoryTable.indexOn(where.local);
    if (where.local !== "id" && !index) return null;
    const inner = this.#memory.of(where.table);
    const cost = this.plan(inner, where.where)?.cost ?? inner.rows.size;
    // The inner query covers half of the rows or more: testing every row is as fast.
    if (cost * 2 > memoryTable.rows.size) return null;
    return {
      cost: index ? Math.ceil((cost * memoryTable.rows.size) / Math.max(1, index.size)) : cost,
      ids: () => idsOf(index, this.#valuesOf(where)),
    };
  }
}

function* idsOf(index: ColumnIndex | null, values: Iterable<Value>): Generator<number> {
  for (const value of values) {
    if (!index) yield value as number;
    else yield* index.ids(value);
  }
}

function keysPlan(memoryTable: MemoryTable, column: string, values: readonly Scalar[]): Plan | null {
  if (column === "id")
    return { cost: values.length, ids: () => new Set(values.filter((value) => typeof value === "number")) };
  const index = memoryTable.indexOn(column);
  if (!index) return null;
  // The vulnerabilities of thousands of versions are looked up before there are any.
  return index.size === 0 ? { cost: 0, ids: () => [] } : planOf(index, values.map(cleanScalar));
}

function planOf(index: ColumnIndex, values: readonly Value[]): Plan {
  const keys = new Set<Value>(values);
  let cost = 0;
  for (const key of keys) cost += index.count(key);
  return { cost, ids: () => idsOf(index, keys) };
}

function rangePlan(memoryTable: MemoryTable, column: string, bounds: readonly Range[]): Plan | null {
  const index = memoryTable.indexOn(column);
  if (!index) return null;
  const keys = index.sortedKeys();
  let from = 0;
  // Null is the greatest key and matches no range.
  let to = placeOf(keys, null, false);
  for (const { op, value } of bounds) {
    const key = cleanScalar(value);
    if (op === "gt" || op === "gte") from = Math.max(from, placeOf(keys, key, op === "gt"));
    else to = Math.min(to, placeOf(keys, key, op === "lte"));
  }
  const share = Math.max(0, to - from) / Math.max(1, keys.length);
  return {
    cost: Math.ceil(share * memoryTable.rows.size),
    ids: () => idsOf(index, keys.slice(from, Math.max(from, to))),
  };
}

function rangeTest({ op, column, value }: Range): Test {
  const bound = cleanScalar(value);
  const order: (value: string | number) => number =
    typeof bound === "string" ? (value) => compareText(value as string, bound) : (value) => (value as number) - bound;
  const within: (difference: number) => boolean =
    op === "lt" ? (d) => d < 0 : op === "lte" ? (d) => d <= 0 : op === "gt" ? (d) => d > 0 : (d) => d >= 0;
  return (row) => {
    const value = row[column] as string | number | null;
    return typeof value === typeof bound && within(order(value as string | number));
  };
}

/**
 * Up to this many values are looked up one by one in the members; more are matched against a set while scanning the
 * members.
 */
const FEW_IDS = 8;

function holdsAny(column: string, values: readonly number[]): Test {
  const ids = new Set(values);
  const any: (members: readonly number[]) => boolean =
    values.length > FEW_IDS
      ? (members) => members.some((member) => ids.has(member))
      : (members) => values.some((value) => holds(members, value));
  return (row) => {
    const members = row[column] as readonly number[] | null;
    return members !== null && any(members);
  };
}

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

type Search = Extract<Predicate, { op: "search" }>;

function searchTest(memoryTable: MemoryTable, { columns, text, at }: Search): Test {
  for (const column of columns)
    if (!columnSpec(memoryTable.table, column).searchable)
      throw new Error(`${memoryTable.table.name}.${column}: not declared for search`);
  const needle = searchForm(text);
  const matches = (form: string): boolean => (at === "start" ? form.startsWith(needle) : form.includes(needle));
  // Stored text is already cleaned, so lower-casing it is enough to get its search form.
  return (row) =>
    columns.some((column) => {
      const value = row[column] as string | null;
      return value !== null && matches(value.toLowerCase());
    });
}

/** Keys that start with the text follow each other in the index. */
function startPlan(memoryTable: MemoryTable, { columns, text }: Search): Plan | null {
  const needle = searchForm(text);
  const plans: Plan[] = [];
  for (const column of columns) {
    const index = memoryTable.foldedIndexOn(column);
    if (!index) return null;
    const keys = index.sortedKeys();
    const from = placeOf(keys, needle, false);
    let to = from;
    while (to < keys.length && (keys[to] as string | null)?.startsWith(needle)) to++;
    plans.push(planOf(index, keys.slice(from, to)));
  }
  return unionOf(memoryTable, plans);
}

function unionOf(memoryTable: MemoryTable, plans: readonly Plan[]): Plan | null {
  const cost = plans.reduce((sum, plan) => sum + plan.cost, 0);
  if (cost >= memoryTable.rows.size) return null;
  return {
    cost,
    ids() {
      const all = new Set<number>();
      for (const plan of plans) for (const id of plan.ids()) all.add(id);
      return all;
    },
  };
}
