// Evaluates predicates on rows in memory: `plan` selects candidate rows, `test` checks one row.
import type { Predicate } from "../../query.ts";
import { cleanText, searchForm } from "../../rows.ts";
import type { Memory } from "../memory.ts";
import type { MemoryTable } from "../memory-table.ts";
import { columnSpec, comparable, type MemoryRow, type Value } from "../values.ts";
import { mergedAlternatives, mergedConditions } from "./merging.ts";
import { idsOf, keysPlan, type Plan, planOf, rangePlan, startPlan, unionOf } from "./plans.ts";
import {
  asciiLower,
  cleanScalar,
  everyTest,
  holdsAny,
  LowerCase,
  type Range,
  rangeTest,
  searchTest,
  someTest,
  type Test,
} from "./row-tests.ts";

type Exists = Extract<Predicate, { op: "exists" }>;
type HasOf = Extract<Predicate, { op: "hasOf" }>;
type Combination = Extract<Predicate, { op: "and" | "or" }>;

/** The distinct values of a column. */
type Values = Pick<ReadonlySet<Value>, "has"> & Iterable<Value>;

/** Adding a row of the inner table to a set takes about as long as looking up this many rows by their ids. */
const PROBES_PER_MEMBER = 3;

/** Evaluates the predicates of one query: the result of an inner query is computed once and reused for every row. */
export class Filter {
  readonly #memory: Memory;
  readonly #sets = new Map<Predicate, Values>();
  readonly #merged = new Map<Predicate, readonly Predicate[]>();
  readonly #lowerCase = new LowerCase();

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Visits the matching rows, in no particular order. */
  each(memoryTable: MemoryTable, where: Predicate, visit: (row: MemoryRow) => void): void {
    const { rows } = memoryTable;
    const plan = this.plan(memoryTable, where);
    // Looking up more than half of the rows by their ids takes longer than reading all of them.
    if (!plan || plan.cost * 2 > rows.size) {
      const test = this.test(memoryTable, where, rows.size);
      for (const row of rows.values()) if (test(row)) visit(row);
      return;
    }
    const test = this.test(memoryTable, where, plan.cost);
    for (const id of plan.ids()) {
      const row = rows.get(id);
      if (row && test(row)) visit(row);
    }
  }

  /** The matching rows, in no particular order. */
  rows(memoryTable: MemoryTable, where: Predicate): MemoryRow[] {
    const rows: MemoryRow[] = [];
    this.each(memoryTable, where, (row) => void rows.push(row));
    return rows;
  }

  count(memoryTable: MemoryTable, where: Predicate): number {
    if (where.op === "all") return memoryTable.rows.size;
    let count = 0;
    this.each(memoryTable, where, () => void count++);
    return count;
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
        return searchTest(memoryTable, where, this.#lowerCase);
      case "and":
        return everyTest(this.#partsOf(where).map((part) => this.test(memoryTable, part, among)));
      case "or":
        return someTest(this.#partsOf(where).map((part) => this.test(memoryTable, part, among)));
      case "not": {
        const test = this.test(memoryTable, where.part, among);
        return (row) => !test(row);
      }
      case "exists":
        return this.#existsTest(memoryTable, where, among);
    }
  }

  /** Merged once, so that the plan and the test share the values of an inner query. */
  #partsOf(where: Combination): readonly Predicate[] {
    const merged =
      this.#merged.get(where) ?? (where.op === "or" ? mergedAlternatives(where.parts) : mergedConditions(where.parts));
    this.#merged.set(where, merged);
    return merged;
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
    if (among * perProbe < innerCost * PROBES_PER_MEMBER && !this.#sets.has(where)) {
      const test = this.test(inner, where.where, among * perProbe);
      if (onId)
        return (row) => {
          const other = inner.rows.get(row[local] as number);
          return other !== undefined && test(other);
        };
      return (row) => {
        const value = row[local] as Value;
        if (value === null) return false;
        for (const id of index!.ids(value)) {
          const other = inner.rows.get(id);
          if (other && test(other)) return true;
        }
        return false;
      };
    }
    // Validated here so that a wrong query fails even if no row is tested.
    this.test(inner, where.where, 0);
    let values: Values | undefined;
    return (row) => {
      values ??= this.#valuesOf(where);
      return values.has(row[local] as Value);
    };
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

  /** All values of the inner column, except null, in the rows that match the inner predicate. */
  #valuesOf(where: Exists | HasOf): Values {
    const cached = this.#sets.get(where);
    if (cached) return cached;
    const column = where.op === "exists" ? where.column : where.from;
    const memoryTable = this.#memory.of(where.table);
    const values = column === "id" ? memoryTable.emptyIdSet() : new Set<Value>();
    this.each(memoryTable, where.where, (row) => {
      const value = row[column] as Value;
      if (value !== null) values.add(value as number);
    });
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
        return this.#orPlan(memoryTable, this.#partsOf(where));
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
