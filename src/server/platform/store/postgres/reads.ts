// The read operations of a collection.
import type { OrderTerm, Position, Predicate, Scalar, Select } from "../query.ts";
import { columnsOfPages, everything } from "../query.ts";
import { type Batch, readSides, type Sides } from "../sides.ts";
import type { Runner } from "./connection/runner.ts";
import { countTerms, lessThoseThatHave } from "./counting.ts";
import { countOfIds } from "./id-sets.ts";
import type { Layout, PostgresRow, Reading } from "./layout.ts";
import { Conditions, type LayoutOf } from "./predicate.ts";
import { selects } from "./select.ts";
import { sideReading } from "./side-rows.ts";
import { col, compile, name, type Sql, sql } from "./sql.ts";
import { arrayLiteral } from "./types.ts";

const ROW = "t0";
const BATCH_SIZE = 500;

export class Reads {
  protected readonly layout: Layout;
  protected readonly layoutOf: LayoutOf;
  protected readonly runner: Runner;

  constructor(layout: Layout, layoutOf: LayoutOf, runner: Runner) {
    this.layout = layout;
    this.layoutOf = layoutOf;
    this.runner = runner;
  }

  async get(id: number): Promise<PostgresRow | null> {
    return (await this.getMany([id]))[0] ?? null;
  }

  async getMany(ids: readonly number[]): Promise<PostgresRow[]> {
    const safeIds = ids.filter(Number.isSafeInteger);
    if (safeIds.length === 0) return [];
    const text = this.layout.text("getMany", () => {
      const from = sql`${name(this.layout.table.name)} AS ${name(ROW)}`;
      return compile(
        sql`SELECT ${this.layout.selectList(ROW)} FROM ${from} WHERE ${col(ROW, "id")} = ANY (${""}::bigint[])`,
      ).text;
    });
    const { rows } = await this.runner.read({ text, values: [arrayLiteral(safeIds)] });
    const byId = new Map(this.layout.rows(rows).map((row) => [row.id, row]));
    return safeIds.map((id) => byId.get(id)).filter((row) => row !== undefined);
  }

  async sides(ids: readonly number[], sides: Sides): Promise<Record<string, PostgresRow | null>[]> {
    const sidesAt = await this.#lazySides(ids, sides);
    return ids.map((_, place) => sidesAt(place));
  }

  async #lazySides(
    ids: readonly number[],
    sides: Sides,
  ): Promise<(place: number) => Record<string, PostgresRow | null>> {
    const sideList = readSides(this.layout.table, sides);
    if (ids.length === 0 || sideList.length === 0) return () => ({});
    const reading = sideReading(sideList, this.layoutOf);
    const text = this.layout.text(reading.key, () => reading.text());
    const { rows } = await this.runner.read({
      text,
      values: [arrayLiteral(ids.map((id) => (Number.isSafeInteger(id) ? id : null)))],
    });
    const read = reading.reader();
    return (place) => read(rows[place]!);
  }

  async first(select: Select): Promise<PostgresRow | null> {
    return (await this.list({ ...select, limit: Math.min(1, select.limit ?? 1) }))[0] ?? null;
  }

  list(select: Select = {}): Promise<PostgresRow[]> {
    return this.pick(this.layout.columns, select);
  }

  async pick(columns: readonly string[], select: Select = {}): Promise<PostgresRow[]> {
    const { records, reading } = await this.#records(columns, select);
    return reading.rows(records);
  }

  /** The rows as `pg` returned them, and how they are read. */
  async #records(columns: readonly string[], select: Select): Promise<{ records: PostgresRow[]; reading: Reading }> {
    for (const column of columns) this.layout.spec(column);
    const records: PostgresRow[] = [];
    let left = select.limit;
    const { stretches, reading } = selects(this.layoutOf, this.layout, select, columns);
    for (const { guess, full } of stretches) {
      if (left !== undefined && left <= 0) break;
      let { rows } = guess ? await this.runner.read(compile(guess)) : { rows: [] };
      if (!guess || rows.length < left!) ({ rows } = await this.runner.read(compile(full)));
      for (const row of left === undefined ? rows : rows.slice(0, left)) records.push(row);
      if (left !== undefined) left -= rows.length;
    }
    return { records, reading };
  }

  async *pages(select: Select = {}, pageSize = BATCH_SIZE, columns?: readonly string[]): AsyncIterable<PostgresRow[]> {
    const pageColumns = columns ? columnsOfPages(columns, select.order) : this.layout.columns;
    for await (const { records, reading } of this.#recordPages(pageColumns, select, pageSize))
      yield reading.rows(records);
  }

  async *batches(
    columns: readonly string[],
    sides: Sides,
    select: Select = {},
    pageSize = BATCH_SIZE,
  ): AsyncIterable<Batch<PostgresRow, Record<string, PostgresRow | null>>> {
    const pageColumns = [...new Set(["id", ...columnsOfPages(columns, select.order)])];
    for await (const { records, reading } of this.#recordPages(pageColumns, select, pageSize)) {
      const ids = records.map(reading.each.id);
      yield { ids, row: (place) => reading.each.row(records[place]!), sides: await this.#lazySides(ids, sides) };
    }
  }

  async *#recordPages(columns: readonly string[], select: Select, pageSize: number) {
    const order = select.order ?? [];
    let { limit: left, after, offset } = select;
    for (;;) {
      const size = Math.min(pageSize, left ?? pageSize);
      if (size <= 0) return;
      const page = await this.#records(columns, { ...select, limit: size, offset, after, transient: true });
      const { records, reading } = page;
      const last = records.length === size ? reading.each.row(records.at(-1)!) : undefined;
      if (records.length > 0) yield page;
      if (last === undefined) return;
      if (left !== undefined) left -= records.length;
      offset = undefined;
      after = await this.positionOf(last, order);
    }
  }

  async positionOf(row: PostgresRow, order: readonly OrderTerm[]): Promise<Position> {
    const position: (Scalar | null)[] = [];
    for (const { column, of, on } of order) {
      const related = of ? await this.#related(of.name, column, row[on ?? "id"]) : row[column];
      position.push((related ?? null) as Scalar | null);
    }
    return [...position, row.id as number];
  }

  async #related(table: string, column: string, id: unknown): Promise<unknown> {
    if (typeof id !== "number") return null;
    const other = this.layoutOf(table);
    other.comparable(column);
    const text = other.text(`related ${column}`, () => {
      const value = sql`${name(column)} AS value`;
      return compile(sql`SELECT ${value} FROM ${name(other.table.name)} WHERE id = ${0}::bigint`).text;
    });
    return (await this.runner.read({ text, values: [id] })).rows[0]?.value;
  }

  async count(where: Predicate = everything): Promise<number> {
    const { rows } = await this.runner.read(compile(sql`SELECT ${this.#numberOf(where)} AS value`));
    return rows[0]!.value as number;
  }

  #numberOf(where: Predicate): Sql {
    if ((where.op === "and" && !lessThoseThatHave(where.parts)) || where.op === "or") {
      const ofIds = countOfIds(where, this.layout.table.name, this.layoutOf, new Conditions(this.layoutOf));
      if (ofIds) return ofIds;
    }
    const terms = countTerms(where).map(
      ({ minus, where: part }) => sql`${minus ? sql`-` : sql`+`} ${this.#counted(part)}`,
    );
    return sql.join(terms, " ");
  }

  async groupCount(column: string, where: Predicate = everything): Promise<{ value: Scalar | null; count: number }[]> {
    const { kind } = this.layout.spec(column);
    if (kind !== "ids") this.layout.comparable(column);
    const value = kind === "ids" ? sql`unnest(${col(ROW, column)})` : col(ROW, column);
    const picked = sql`(SELECT ${value} AS value FROM ${this.#picked(where)}) AS picked`;
    const counted = sql`SELECT value, count(*) AS count FROM ${picked} GROUP BY value ORDER BY 2 DESC, 1 ASC NULLS LAST`;
    const { rows } = await this.runner.read(compile(counted));
    return rows as { value: Scalar | null; count: number }[];
  }

  async max(column: string, where: Predicate = everything): Promise<Scalar | null> {
    this.layout.comparable(column);
    const value = col(ROW, column);
    const present: Sql = sql`${value} IS NOT NULL`;
    // Booleans have no max(). Sorting works for every type and can use its index.
    const best = sql`SELECT ${value} AS value FROM ${this.#picked(where)} AND ${present} ORDER BY ${value} DESC LIMIT 1`;
    const { rows } = await this.runner.read(compile(best));
    return (rows[0]?.value ?? null) as Scalar | null;
  }

  #counted(where: Predicate): Sql {
    if (where.op === "exists" && where.column === "id" && where.local === "id") {
      const other = this.layoutOf(where.table.name);
      // Rows that share this table's ids always have a row here, so counting them alone is enough.
      if (other.spec("id").to === this.layout.table.name) {
        const condition = new Conditions(this.layoutOf).conditionOf(where.where, other, ROW);
        return sql`(SELECT count(*) FROM ${name(other.table.name)} AS ${name(ROW)} WHERE ${condition})`;
      }
    }
    return sql`(SELECT count(*) FROM ${this.#picked(where)})`;
  }

  #picked(where: Predicate): Sql {
    const condition = new Conditions(this.layoutOf).conditionOf(where, this.layout, ROW);
    return sql`${name(this.layout.table.name)} AS ${name(ROW)} WHERE ${condition}`;
  }
}
