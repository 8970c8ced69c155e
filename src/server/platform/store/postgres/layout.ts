// A declared table prepared for the engine: how its rows are read and its values written.
import type { Cipher } from "../cipher.ts";
import { packBytes } from "../packing.ts";
import { searchForm } from "../rows.ts";
import { type ColumnSpec, revisionColumn, type Table } from "../table.ts";
import { firstOfRecord, fitsRecord, RECORD, recordOf, recordParser } from "./records.ts";
import { type SqlType, searchColumn, sqlType } from "./schema.ts";
import { col, list, type Sql, sql } from "./sql.ts";
import { arrayLiteral, bytesLiteral, sqlTime } from "./types.ts";

export type PostgresRow = Record<string, unknown>;
type Element = string | number | boolean | null;

/** One column that an insert or update writes: its value's source, types and encoding. */
export interface WrittenColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Element type of the array that carries the values of many rows. */
  readonly via: SqlType;
  readonly spec: ColumnSpec;
  encode(row: PostgresRow): Element;
}

/** How a statement reads some columns of a table, and how the rows that it returned become rows of the table. */
export interface Reading {
  select(alias: string): Sql;
  rows(records: readonly PostgresRow[]): PostgresRow[];
  /** For rows that are made one by one. A record needs the id as its first column for that. */
  readonly each: { id(record: PostgresRow): number; row(record: PostgresRow): PostgresRow };
}

export class Layout {
  readonly table: Table;
  readonly columns: readonly string[];
  /** All columns that an insert writes, in order. `revision` is left out because it has a default. */
  readonly written: readonly WrittenColumn[];
  readonly texts = new Map<string, string>();
  readonly #cipher: Cipher;
  readonly #secrets: readonly string[];

  constructor(table: Table, cipher: Cipher) {
    this.table = table;
    this.#cipher = cipher;
    const declared = Object.keys(table.columns);
    this.columns = [...declared, "revision"];
    this.#secrets = declared.filter((column) => this.spec(column).secret);
    this.written = this.writes(declared);
  }

  spec(column: string): ColumnSpec {
    if (Object.hasOwn(this.table.columns, column)) return this.table.columns[column]!.spec;
    if (column === "revision") return revisionColumn;
    throw new Error(`${this.table.name} has no column ${column}`);
  }

  /** Throws if values of this column cannot be compared. */
  comparable(column: string): ColumnSpec {
    const spec = this.spec(column);
    if (spec.secret || spec.kind === "json" || spec.kind === "packed" || spec.kind === "ids")
      throw new Error(
        `${this.table.name}.${column}: a ${spec.secret ? "secret" : spec.kind} column cannot be compared`,
      );
    return spec;
  }

  /** The columns, each followed by its shadow column if it has one. */
  writes(columns: readonly string[]): WrittenColumn[] {
    const written: WrittenColumn[] = [];
    for (const name of columns) {
      const spec = this.spec(name);
      const type = sqlType(spec);
      const via = type === "json" || type === "bigint[]" ? "text" : type;
      written.push({ name, type, via, spec, encode: (row) => this.#element(spec, row[name]) });
      if (!spec.searchable) continue;
      const encode = (row: PostgresRow) => (typeof row[name] === "string" ? searchForm(row[name]) : null);
      written.push({ name: searchColumn(name), type: "text", via: "text", spec, encode });
    }
    return written;
  }

  #element(spec: ColumnSpec, value: unknown): Element {
    if (value === null || value === undefined) return null;
    if (spec.secret) return this.#cipher.seal(spec.kind === "text" ? String(value) : JSON.stringify(value));
    switch (spec.kind) {
      case "json":
        return JSON.stringify(value);
      case "packed":
        return bytesLiteral(packBytes(value));
      case "ids":
        return arrayLiteral(value as readonly number[]);
      case "time":
        return sqlTime(value as string);
      default:
        return value as Element;
    }
  }

  /** Decrypts a secret to the value that was stored. */
  opened(spec: ColumnSpec, sealed: string): unknown {
    const plain = this.#cipher.open(sealed);
    return spec.kind === "text" ? plain : JSON.parse(plain);
  }

  selectList(alias: string, columns: readonly string[] = this.columns): Sql {
    return list(columns.map((column) => col(alias, column)));
  }

  /** Rows as `pg` returned them, with their secrets decrypted. */
  rows(records: readonly PostgresRow[]): PostgresRow[] {
    for (const column of this.#secrets)
      for (const row of records) {
        const sealed = row[column];
        if (typeof sealed === "string") row[column] = this.opened(this.spec(column), sealed);
      }
    return records as PostgresRow[];
  }

  /** `asRecord`: wide rows are read as records. */
  reading(columns: readonly string[], asRecord: boolean): Reading {
    const specs = columns.map((column) => this.spec(column));
    if (!asRecord || !fitsRecord(specs)) {
      return {
        select: (alias) => this.selectList(alias, columns),
        rows: (records) => this.rows(records),
        // A copy, because the caller reads the same record again, whose secrets would be decrypted twice.
        each: {
          id: (record) => record.id as number,
          row: (record) => this.rows(this.#secrets.length === 0 ? [record] : [{ ...record }])[0]!,
        },
      };
    }
    const toRow = recordRow(columns, specs);
    return {
      select: (alias) => recordOf(columns.map((column) => col(alias, column))),
      rows: (records) => this.rows(records.map(toRow)),
      each: {
        id: (record) => firstOfRecord(record[RECORD] as string),
        row: (record) => this.rows([toRow(record)])[0]!,
      },
    };
  }

  /** Caches the text of a statement whose parameters always have the same number and order. */
  text(key: string, make: () => string): string {
    const cached = this.texts.get(key);
    if (cached !== undefined) return cached;
    const text = make();
    // Few distinct shapes exist. The limit keeps a caller that generates new ones from filling memory.
    if (this.texts.size < 500) this.texts.set(key, text);
    return text;
  }
}

function recordRow(columns: readonly string[], specs: readonly ColumnSpec[]): (record: PostgresRow) => PostgresRow {
  const parse = recordParser(specs);
  const empty: PostgresRow = Object.fromEntries(columns.map((column) => [column, null]));
  return (record) => {
    const values = parse(record[RECORD] as string);
    // A copy of a complete object is several times as fast as adding one key after the other.
    const row = { ...empty };
    for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i];
    return row;
  };
}

/** The columns of an input row, each cast to its column's type. */
export const typed = (alias: string, { name, type, via }: WrittenColumn): Sql =>
  type === via ? col(alias, name) : sql`${col(alias, name)}::${sql.raw(type)}`;

/**
 * The input rows of a statement as a table, with their position in `svc_ord`: `unnest($1::bigint[], ...)`, one array
 * per column. A single row is passed as plain values, so that Postgres sees that there is one row and reuses its
 * plan.
 */
export function inputRows(alias: string, columns: readonly WrittenColumn[], single = false): Sql {
  if (single) {
    const values = columns.map(({ name, via }) => sql`${""}::${sql.raw(via)} AS ${sql.id(name)}`);
    return sql`(SELECT ${list([...values, sql`1::bigint AS svc_ord`])}) AS ${sql.id(alias)}`;
  }
  const arrays = columns.map(({ via }) => sql`${""}::${sql.raw(`${via}[]`)}`);
  const names = columns.map(({ name }) => sql`${sql.id(name)}`);
  return sql`unnest(${list(arrays)}) WITH ORDINALITY AS ${sql.id(alias)}(${list([...names, sql`svc_ord`])})`;
}

/** Rows per statement: few enough for a plan that expects few rows, and small enough for memory. */
const BATCH_SIZE = 1000;
const BATCH_CHARS = 4_000_000;

export interface Chunk {
  readonly rows: readonly PostgresRow[];
  /** The parameters for `inputRows`. */
  readonly values: readonly unknown[];
  readonly single: boolean;
}

export function* chunks(columns: readonly WrittenColumn[], rows: readonly PostgresRow[]): Generator<Chunk> {
  for (let start = 0; start < rows.length; ) {
    const arrays: Element[][] = columns.map(() => []);
    let chars = 0;
    let end = start;
    while (end < rows.length && end - start < BATCH_SIZE && chars < BATCH_CHARS) {
      for (let i = 0; i < columns.length; i++) {
        const element = columns[i]!.encode(rows[end]!);
        if (typeof element === "string") chars += element.length;
        arrays[i]!.push(element);
      }
      end++;
    }
    const single = rows.length === 1;
    yield { rows: rows.slice(start, end), values: arrays.map(single ? (array) => array[0] : arrayLiteral), single };
    start = end;
  }
}
