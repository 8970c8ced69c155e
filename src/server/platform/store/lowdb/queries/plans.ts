// Candidate rows of a condition, by the indexes of a table.
import type { Predicate, Scalar } from "../../query.ts";
import { searchForm } from "../../rows.ts";
import { type ColumnIndex, placeOf } from "../column-index.ts";
import type { MemoryTable } from "../memory-table.ts";
import type { Value } from "../values.ts";
import { cleanScalar, type Range } from "./row-tests.ts";

type Search = Extract<Predicate, { op: "search" }>;

/** A set of ids that contains every matching row, and its approximate size. */
export interface Plan {
  readonly cost: number;
  ids(): Iterable<number>;
}

export function* idsOf(index: ColumnIndex | null, values: Iterable<Value>): Generator<number> {
  for (const value of values) {
    if (!index) yield value as number;
    else yield* index.ids(value);
  }
}

export function keysPlan(memoryTable: MemoryTable, column: string, values: readonly Scalar[]): Plan | null {
  if (column === "id")
    return { cost: values.length, ids: () => new Set(values.filter((value) => typeof value === "number")) };
  const index = memoryTable.indexOn(column);
  if (!index) return null;
  // The vulnerabilities of thousands of versions are looked up before there are any.
  return index.size === 0 ? { cost: 0, ids: () => [] } : planOf(index, values.map(cleanScalar));
}

export function planOf(index: ColumnIndex, values: readonly Value[]): Plan {
  const keys = new Set<Value>(values);
  let cost = 0;
  for (const key of keys) cost += index.count(key);
  return { cost, ids: () => idsOf(index, keys) };
}

export function rangePlan(memoryTable: MemoryTable, column: string, bounds: readonly Range[]): Plan | null {
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

/** Keys that start with the text follow each other in the index. */
export function startPlan(memoryTable: MemoryTable, { columns, text }: Search): Plan | null {
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

export function unionOf(memoryTable: MemoryTable, plans: readonly Plan[]): Plan | null {
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
