// The write operations of a collection.
import type { Predicate } from "../query.ts";
import { partRow, wholeRow } from "../rows.ts";
import { idOr, inChunks, needsSequence, raiseSequence } from "./batches.ts";
import { chunks, inputRows, type PostgresRow, typed, type WrittenColumn } from "./layout.ts";
import { Conditions } from "./predicate.ts";
import { Reads } from "./reads.ts";
import { col, compile, list, name, sql, textOf } from "./sql.ts";
import { type UpsertShape, upsertRows } from "./upsert.ts";

const ROW = "t0";

export class Writes extends Reads {
  async insert(row: PostgresRow): Promise<PostgresRow> {
    return (await this.insertMany([row]))[0]!;
  }

  async insertMany(
    inputs: readonly PostgresRow[],
    { returning = this.layout.columns }: { readonly returning?: readonly string[] } = {},
  ): Promise<PostgresRow[]> {
    for (const column of returning) this.layout.spec(column);
    const rows = inputs.map((row) => wholeRow(this.layout.table, row));
    const { written } = this.layout;
    const inserted = await inChunks(
      this.runner,
      chunks(written, rows),
      async (runner, chunk) => {
        const result = await runner.write({ text: this.#insertText(chunk.single, returning), values: chunk.values });
        await raiseSequence(this.layout, runner, chunk.rows);
        return result.rows;
      },
      needsSequence(this.layout, rows),
    );
    return returning.length === 0 ? rows.map(() => ({})) : this.layout.rows(inserted.flat());
  }

  #insertText(single: boolean, returning: readonly string[]): string {
    const { table, written } = this.layout;
    return this.layout.text(`insert ${single} ${returning.join()}`, () => {
      const values = written.map((column) => idOr(this.layout, column, typed("i", column)));
      const into = sql`${name(table.name)} (${list(written.map((column) => name(column.name)))})`;
      const from = sql`${inputRows("i", written, single)} ORDER BY i.svc_ord`;
      const returned =
        returning.length === 0 ? sql`` : sql` RETURNING ${this.layout.selectList(table.name, [...returning])}`;
      return textOf(sql`INSERT INTO ${into} SELECT ${list(values)} FROM ${from}${returned}`);
    });
  }

  async upsert(inputs: readonly PostgresRow[], options: UpsertShape): Promise<PostgresRow[]> {
    return upsertRows(this.layout, this.runner, inputs, options);
  }

  async update({ where, set }: { where: Predicate; set: PostgresRow }): Promise<number> {
    const values = partRow(this.layout.table, set);
    const changes = this.layout
      .writes(Object.keys(values))
      .map((column) => sql`${name(column.name)} = ${column.encode(values)}::${sql.raw(column.type)}`);
    const picked = new Conditions(this.layoutOf).conditionOf(where, this.layout, ROW);
    const changed = list([...changes, sql`revision = ${col(ROW, "revision")} + 1`]);
    const statement = sql`UPDATE ${name(this.layout.table.name)} AS ${name(ROW)} SET ${changed} WHERE ${picked}`;
    return (await this.runner.write(compile(statement))).count;
  }

  async updateEach(rows: readonly PostgresRow[]): Promise<number> {
    const [first] = rows;
    if (!first) return 0;
    const names = Object.keys(first).filter((column) => column !== "id" && first[column] !== undefined);
    // If an id occurs twice, the last change counts.
    const changes = new Map<unknown, PostgresRow>();
    for (const change of rows) {
      const row = partRow(this.layout.table, change);
      if (Object.keys(row).length !== names.length + 1 || !names.every((column) => column in row))
        throw new Error(`${this.layout.table.name}: every change of updateEach must set the same columns`);
      changes.set(row.id, row);
    }
    const columns = this.layout.writes(["id", ...names]);
    const text = (single: boolean) =>
      this.layout.text(`updateEach ${single} ${names.join()}`, () => this.#updateEachText(columns, single));
    const counts = await inChunks(
      this.runner,
      chunks(columns, [...changes.values()]),
      async (runner, { values, single }) => (await runner.write({ text: text(single), values })).count,
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  #updateEachText(columns: readonly WrittenColumn[], single: boolean): string {
    const set = columns
      .filter((column) => column.name !== "id")
      .map((column) => sql`${name(column.name)} = ${typed("i", column)}`);
    const changed = list([...set, sql`revision = ${col(ROW, "revision")} + 1`]);
    const table = sql`${name(this.layout.table.name)} AS ${name(ROW)}`;
    return textOf(
      sql`UPDATE ${table} SET ${changed} FROM ${inputRows("i", columns, single)} WHERE ${col(ROW, "id")} = i.id`,
    );
  }

  async delete(where: Predicate): Promise<number> {
    const picked = new Conditions(this.layoutOf).conditionOf(where, this.layout, ROW);
    const statement = sql`DELETE FROM ${name(this.layout.table.name)} AS ${name(ROW)} WHERE ${picked}`;
    return (await this.runner.write(compile(statement))).count;
  }
}
