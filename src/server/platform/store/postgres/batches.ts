// Shared by inserts and upserts of many rows: chunks that are stored atomically, and rows that bring their own ids.

import type { Runner } from "./connection/runner.ts";
import type { Chunk, Layout, PostgresRow, typed, WrittenColumn } from "./layout.ts";
import { givesIds, sequenceOf } from "./schema.ts";
import { name, sql, textOf } from "./sql.ts";

/** Runs a single chunk directly; several chunks, or one with further statements, run in one transaction. */
export async function inChunks<R>(
  runner: Runner,
  all: Iterable<Chunk>,
  work: (runner: Runner, chunk: Chunk) => Promise<R>,
  further = false,
): Promise<R[]> {
  const waiting = all[Symbol.iterator]();
  const first = waiting.next();
  if (first.done) return [];
  const second = waiting.next();
  if (second.done && !further) return [await work(runner, first.value)];
  const held: Chunk[] = [first.value, ...(second.done ? [] : [second.value])];
  return runner.atomic(async (inner) => {
    const results: R[] = [];
    for (const chunk of held) results.push(await work(inner, chunk));
    for (let next = waiting.next(); !next.done; next = waiting.next()) results.push(await work(inner, next.value));
    return results;
  });
}

/** In a table that assigns its own ids, a row may bring its id; other rows get the next one. */
export const idOr = (layout: Layout, column: WrittenColumn, value: ReturnType<typeof typed>) =>
  column.name === "id" && givesIds(layout.table)
    ? sql`coalesce(${value}, nextval(${sql.lit(`"${sequenceOf(layout.table)}"`)}::regclass))`
    : value;

export const needsSequence = (layout: Layout, rows: readonly PostgresRow[]): boolean =>
  givesIds(layout.table) && rows.some((row) => row.id !== null);

/** Raises the sequence above ids that came with their rows, so that they are never assigned again. */
export async function raiseSequence(layout: Layout, runner: Runner, rows: readonly PostgresRow[]): Promise<void> {
  if (!needsSequence(layout, rows)) return;
  const highest = rows.reduce((most, row) => Math.max(most, (row.id as number | null) ?? 0), 0);
  const text = layout.text("raiseSequence", () => {
    const sequence = sql.lit(`"${sequenceOf(layout.table)}"`);
    const last = sql`(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${name(sequenceOf(layout.table))})`;
    return textOf(sql`SELECT setval(${sequence}::regclass, ${0}::bigint) WHERE ${0}::bigint > ${last}`);
  });
  await runner.write({ text, values: [highest, highest] });
}
