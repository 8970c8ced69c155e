// The forms of a row: as callers see it, in memory (large JSON compressed), and on disk (secrets encrypted too).
import type { Cipher } from "../cipher.ts";
import { freezeDeep } from "../freeze.ts";
import { type PackedValue, pack, unpack } from "../packing.ts";
import { compareText } from "../rows.ts";
import { type ColumnSpec, revisionColumn, type Table } from "../table.ts";

export type Value = string | number | boolean | null;
/** A row in memory. Writes replace it and never modify it. */
export type MemoryRow = Readonly<Record<string, unknown>> & { readonly id: number; readonly revision: number };

export function columnSpec(table: Table, name: string): ColumnSpec {
  const column = name === "revision" ? revisionColumn : Object.hasOwn(table.columns, name) && table.columns[name]?.spec;
  if (!column) throw new Error(`${table.name}.${name}: no such column`);
  return column;
}

/** Throws if values of this column cannot be compared. */
export function comparable(table: Table, name: string): ColumnSpec {
  const spec = columnSpec(table, name);
  if (spec.secret || spec.kind === "json" || spec.kind === "packed" || spec.kind === "ids")
    throw new Error(`${table.name}.${name}: a ${spec.secret ? "secret" : spec.kind} column cannot be compared`);
  return spec;
}

/** Null is the greatest value; text is compared by code point. */
export function compareValues(a: Value, b: Value): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  if (typeof a === "string") return compareText(a, b as string);
  return a < b ? -1 : 1;
}

/** Converts the rows of one table between their forms. */
export class RowForms {
  readonly columns: readonly string[];
  readonly #table: Table;
  readonly #specs: readonly ColumnSpec[];
  readonly #packed: readonly string[];
  readonly #json: readonly string[];
  readonly #sealed: ReadonlySet<string>;
  readonly #cipher: Cipher;
  readonly #frozen: boolean;

  constructor(table: Table, cipher: Cipher, frozen: boolean) {
    this.#table = table;
    this.#cipher = cipher;
    this.#frozen = frozen;
    this.columns = [...Object.keys(table.columns), "revision"];
    this.#specs = this.columns.map((name) => columnSpec(table, name));
    this.#packed = this.columns.filter((_, i) => this.#specs[i]!.kind === "packed");
    this.#json = this.columns.filter((_, i) => this.#specs[i]!.kind === "json");
    this.#sealed = new Set(this.columns.filter((_, i) => this.#specs[i]!.secret));
  }

  /**
   * Converts checked values (a whole row or some columns) to their in-memory form, detached from the caller's
   * objects. Modifies `values`.
   */
  keep(values: Record<string, unknown>): Record<string, unknown> {
    for (const name of this.#json) if (values[name] != null) values[name] = JSON.parse(JSON.stringify(values[name]));
    for (const name of this.#packed) if (values[name] != null) values[name] = pack(values[name]);
    return values;
  }

  /** Adds the keys in declared order, so that all rows of a table share one hidden class. */
  build(values: Readonly<Record<string, unknown>>): MemoryRow {
    const row: Record<string, unknown> = {};
    for (const name of this.columns) row[name] = values[name];
    if (this.#frozen) freezeDeep(row);
    return row as MemoryRow;
  }

  change(row: MemoryRow, values: Readonly<Record<string, unknown>>): MemoryRow {
    const next: Record<string, unknown> = {};
    for (const name of this.columns) {
      const value = values[name];
      next[name] = value === undefined ? row[name] : value;
    }
    next.revision = row.revision + 1;
    if (this.#frozen) freezeDeep(next);
    return next as MemoryRow;
  }

  /** The row as callers see it: the same object if the table has no packed columns. */
  show(row: MemoryRow): MemoryRow {
    if (this.#packed.length === 0) return row;
    const shown: Record<string, unknown> = {};
    for (const name of this.columns) shown[name] = row[name];
    for (const name of this.#packed) shown[name] = this.showValue(name, row[name]);
    return shown as MemoryRow;
  }

  /** Returns a function that copies the columns of a row, as callers see them. */
  picker(columns: readonly string[]): (row: MemoryRow) => Record<string, unknown> {
    for (const column of columns) columnSpec(this.#table, column);
    const packed = new Set(columns.filter((column) => this.#packed.includes(column)));
    return (row) => {
      const picked: Record<string, unknown> = {};
      for (const column of columns)
        picked[column] = packed.has(column) ? this.showValue(column, row[column]) : row[column];
      return picked;
    };
  }

  /** A `picker` that does not copy if the table has no packed columns: the rows then have all columns. */
  viewer(columns: readonly string[]): (row: MemoryRow) => Readonly<Record<string, unknown>> {
    const pick = this.picker(columns);
    return this.#packed.length === 0 ? (row) => row : pick;
  }

  showValue(name: string, value: unknown): unknown {
    return value !== null && this.#packed.includes(name) ? unpack(value as PackedValue) : value;
  }

  same(name: string, a: unknown, b: unknown): boolean {
    if (a === b) return true;
    if (a === null || b === null) return false;
    const { kind } = this.#specs[this.columns.indexOf(name)]!;
    if (kind === "packed") return Buffer.isBuffer(a) && Buffer.isBuffer(b) && a.equals(b);
    return (kind === "json" || kind === "ids") && JSON.stringify(a) === JSON.stringify(b);
  }

  /** Converts one value to its form on disk. */
  toDisk(name: string, value: unknown): unknown {
    if (value === null) return null;
    if (this.#sealed.has(name)) return this.#cipher.seal(JSON.stringify(this.showValue(name, value)));
    return Buffer.isBuffer(value) ? { z: value.toString("base64") } : value;
  }

  rowToDisk(row: MemoryRow): Record<string, unknown> {
    const disk: Record<string, unknown> = {};
    for (const name of this.columns) disk[name] = this.toDisk(name, row[name]);
    return disk;
  }

  #fromDisk(name: string, value: unknown): unknown {
    if (value === null) return null;
    const isPacked = this.#packed.includes(name);
    if (this.#sealed.has(name)) {
      const plain: unknown = JSON.parse(this.#cipher.open(value as string));
      return isPacked ? pack(plain) : plain;
    }
    return isPacked && typeof value === "object" ? Buffer.from((value as { z: string }).z, "base64") : value;
  }

  /** Ignores columns that have since been removed from the table. */
  partFromDisk(disk: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const name of this.columns) if (disk[name] !== undefined) values[name] = this.#fromDisk(name, disk[name]);
    return values;
  }

  /** Fills columns that have since been added to the table with their default. */
  rowFromDisk(disk: Readonly<Record<string, unknown>>): MemoryRow {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < this.columns.length; i++) {
      const name = this.columns[i]!;
      const value = disk[name];
      if (value === undefined) row[name] = this.#added(name, this.#specs[i]!);
      else row[name] = typeof value === "object" || this.#sealed.has(name) ? this.#fromDisk(name, value) : value;
    }
    if (this.#frozen) freezeDeep(row);
    return row as MemoryRow;
  }

  #added(name: string, spec: ColumnSpec): unknown {
    if (!spec.hasFallback)
      throw new Error(`${this.#table.name}.${name}: rows on disk lack this column and it has no default`);
    return spec.kind === "packed" && spec.fallback !== null ? pack(spec.fallback) : spec.fallback;
  }
}
