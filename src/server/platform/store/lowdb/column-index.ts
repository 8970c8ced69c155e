import { compareValues, type MemoryRow, type Value } from "./values.ts";

/** The ids of the rows that share a key. Most keys have one row, some have a few, and very few have many. */
type Bucket = number | number[] | Set<number>;
const ARRAY_LIMIT = 32;

const sizeOf = (bucket: Bucket): number =>
  typeof bucket === "number" ? 1 : Array.isArray(bucket) ? bucket.length : bucket.size;

const keyPart = (value: Value): string => (typeof value === "string" ? `${value.length}:${value}` : String(value));

/** Looks up rows by the values of one or more columns. */
export class ColumnIndex {
  readonly columns: readonly string[];
  /** Whether two rows may not have the same key. With `nullsDiffer`, keys with a null never conflict. */
  readonly unique: boolean;
  readonly nullsDiffer: boolean;
  readonly #single: string | null;
  readonly #buckets = new Map<Value, Bucket>();
  // The sorted keys, built on first use. New keys are collected in `added`; removed keys stay in the list until it is
  // rebuilt.
  #sorted: Value[] | null = null;
  #added: Value[] = [];
  #gone = 0;

  constructor(columns: readonly string[], unique: boolean, nullsDiffer: boolean) {
    this.columns = columns;
    this.unique = unique;
    this.nullsDiffer = nullsDiffer;
    this.#single = columns.length === 1 ? columns[0]! : null;
  }

  keyOf(row: Readonly<Record<string, unknown>>): Value {
    if (this.#single !== null) return row[this.#single] as Value;
    let key = "";
    for (const column of this.columns) key += `${keyPart(row[column] as Value)},`;
    return key;
  }

  add(key: Value, id: number): void {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      this.#buckets.set(key, id);
      if (this.#sorted) this.#added.push(key);
    } else if (typeof bucket === "number") this.#buckets.set(key, [bucket, id]);
    else if (!Array.isArray(bucket)) bucket.add(id);
    else if (bucket.length < ARRAY_LIMIT) bucket.push(id);
    else this.#buckets.set(key, new Set(bucket).add(id));
  }

  remove(key: Value, id: number): void {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return;
    if (Array.isArray(bucket)) {
      const at = bucket.indexOf(id);
      if (at !== -1) {
        bucket[at] = bucket[bucket.length - 1]!;
        bucket.pop();
      }
    } else if (typeof bucket !== "number") bucket.delete(id);
    if (typeof bucket === "number" || sizeOf(bucket) === 0) {
      this.#buckets.delete(key);
      if (this.#sorted) this.#gone++;
    }
  }

  count(key: Value): number {
    const bucket = this.#buckets.get(key);
    return bucket === undefined ? 0 : sizeOf(bucket);
  }

  ids(key: Value): Iterable<number> & { readonly length?: number } {
    const bucket = this.#buckets.get(key);
    return bucket === undefined ? [] : typeof bucket === "number" ? [bucket] : bucket;
  }

  /** Returns the id of a different row with the same key, or null. For unique indexes. */
  clash(row: MemoryRow): number | null {
    if (this.nullsDiffer && this.columns.some((column) => row[column] === null)) return null;
    for (const id of this.ids(this.keyOf(row))) if (id !== row.id) return id;
    return null;
  }

  keys(): IterableIterator<Value> {
    return this.#buckets.keys();
  }

  get size(): number {
    return this.#buckets.size;
  }

  clear(): void {
    this.#buckets.clear();
    this.#sorted = null;
  }

  /** The sorted keys, for indexes on one column. Some of them may no longer have any rows. */
  sortedKeys(): readonly Value[] {
    if (!this.#sorted || this.#gone > this.#sorted.length / 2) {
      this.#sorted = [...this.#buckets.keys()].sort(compareValues);
      this.#added = [];
      this.#gone = 0;
    } else if (this.#added.length > 0) {
      this.#sorted = mergeSorted(this.#sorted, this.#added.sort(compareValues));
      this.#added = [];
    }
    return this.#sorted;
  }
}

/** Looks up rows by a text column whatever its case, like `same`. */
export class FoldedIndex extends ColumnIndex {
  readonly #column: string;

  constructor(column: string) {
    super([column], false, true);
    this.#column = column;
  }

  override keyOf(row: Readonly<Record<string, unknown>>): Value {
    const value = row[this.#column] as string | null;
    return value === null ? null : value.toLowerCase();
  }
}

/** Up to this many keys are inserted one by one, which is cheaper than merging the lists, however long they are. */
const MAX_SINGLE_INSERTS = 16;

function mergeSorted(a: Value[], b: Value[]): Value[] {
  // Times and counters arrive in ascending order, except for the null of rows without a value: then hardly any
  // element moves.
  const before = a.length === 0 ? 0 : placeOf(b, a[a.length - 1]!, true);
  if (before <= MAX_SINGLE_INSERTS) {
    for (const key of b.slice(0, before)) {
      const at = placeOf(a, key, false);
      if (a[at] !== key) a.splice(at, 0, key);
    }
    for (const key of b.slice(before)) if (a[a.length - 1] !== key) a.push(key);
    return a;
  }
  const merged: Value[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const next = j === b.length || (i < a.length && compareValues(a[i]!, b[j]!) <= 0) ? a[i++]! : b[j++]!;
    if (merged.length === 0 || merged[merged.length - 1] !== next) merged.push(next);
  }
  return merged;
}

/**
 * Binary search: the first position whose key is greater than or equal to the value (strictly greater with `past`).
 */
export function placeOf(keys: readonly Value[], value: Value, past: boolean): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareValues(keys[middle]!, value);
    if (order < 0 || (past && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
