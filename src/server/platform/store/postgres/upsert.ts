// Upsert in one statement: existing rows that differ are updated, missing rows are inserted, and all others are only
// read. INSERT ... ON CONFLICT DO UPDATE would lock (and so write) every existing row, changed or not, and use up an
// id for each.
import { wholeRow } from "../rows.ts";
import { StoreUnavailable } from "../store.ts";
import { idOr, inChunks, needsSequence, raiseSequence } from "./batches.ts";
import type { Runner } from "./connection/runner.ts";
import { type Chunk, chunks, inputRows, type Layout, type PostgresRow, typed, type WrittenColumn } from "./layout.ts";
import { allOf, anyOf, col, list, name, type Sql, sql, textOf } from "./sql.ts";

/** Number of attempts when other servers insert or delete the same rows at the same time. */
const MAX_ATTEMPTS = 10;

export interface UpsertShape {
  readonly on: readonly string[];
  readonly set?: readonly string[];
  readonly returning?: readonly string[];
}

type Shape = Required<UpsertShape>;

export async function upsertRows(
  layout: Layout,
  runner: Runner,
  inputs: readonly PostgresRow[],
  options: UpsertShape,
): Promise<PostgresRow[]> {
  const { on, set, returning = layout.columns } = options;
  for (const column of returning) layout.spec(column);
  if (!isKey(layout, on)) throw new Error(`${layout.table.name}: ${on.join(", ")} is not a unique set of columns`);
  const rows = inputs.map((row) => wholeRow(layout.table, row));
  const runs = sameShape(inputs, { on, set, returning });
  if (runs.length === 1) return upsertRun(layout, runner, rows, runs[0]!.shape);
  return runner.atomic(async (inner) => {
    const results: PostgresRow[] = [];
    for (const { shape, from, to } of runs)
      results.push(...(await upsertRun(layout, inner, rows.slice(from, to), shape)));
    return results;
  });
}

function isKey(layout: Layout, on: readonly string[]): boolean {
  if (on.length === 1 && (on[0] === "id" || layout.spec(on[0]!).unique)) return true;
  return layout.table.unique.some(
    (columns) => columns.length === on.length && columns.every((column) => on.includes(column)),
  );
}

/** Splits the rows into runs of consecutive rows for which an update writes the same columns. */
function sameShape(
  inputs: readonly PostgresRow[],
  { on, set, returning }: Pick<Shape, "on" | "returning"> & { readonly set: readonly string[] | undefined },
) {
  const runs: { shape: Shape; from: number; to: number }[] = [];
  let last = "";
  inputs.forEach((row, i) => {
    const columns = (set ?? Object.keys(row).filter((column) => row[column] !== undefined)).filter(
      (column) => !on.includes(column) && column !== "id" && column !== "revision",
    );
    const key = columns.join();
    const run = runs.at(-1);
    if (run && key === last) run.to = i + 1;
    else runs.push({ shape: { on, set: columns, returning }, from: i, to: i + 1 });
    last = key;
  });
  return runs;
}

async function upsertRun(
  layout: Layout,
  runner: Runner,
  rows: readonly PostgresRow[],
  shape: Shape,
): Promise<PostgresRow[]> {
  const { places, distinct } = lastWins(layout, rows, shape.on);
  // A missing secret is stored as it is.
  const isGiven = (column: string) => distinct.some((row) => row[column] !== null);
  const secret = shape.set.filter((column) => layout.spec(column).secret && isGiven(column));
  const results = await inChunks(
    runner,
    chunks(layout.written, distinct),
    async (inner, chunk) => {
      const values = secret.length > 0 ? await keepSealed(layout, inner, chunk, shape, secret) : chunk.values;
      const written = await upsertChunk(layout, inner, chunk, values, shape);
      await raiseSequence(layout, inner, chunk.rows);
      return written;
    },
    secret.length > 0 || needsSequence(layout, distinct),
  );
  const after = results.flat();
  return places.map((place) => after[place]!);
}

/**
 * For each given row, the position of the distinct row that replaces it. Rows with a null in a key that equals
 * nothing are all distinct.
 */
function lastWins(layout: Layout, rows: readonly PostgresRow[], on: readonly string[]) {
  const placesByKey = new Map<string, number>();
  const distinct: PostgresRow[] = [];
  const loose = nullsApart(layout, on);
  const places = rows.map((row) => {
    const values = on.map((column) => row[column]);
    const key = loose && values.includes(null) ? null : JSON.stringify(values);
    const place = key === null ? undefined : placesByKey.get(key);
    if (place !== undefined) {
      distinct[place] = row;
      return place;
    }
    if (key !== null) placesByKey.set(key, distinct.length);
    distinct.push(row);
    return distinct.length - 1;
  });
  return { places, distinct };
}

/** In `.unique()` columns and ids, null equals nothing. In a unique set, null counts as a value. */
const nullsApart = (layout: Layout, on: readonly string[]): boolean =>
  on.length === 1 && (on[0] === "id" || layout.spec(on[0]!).unique);

async function upsertChunk(
  layout: Layout,
  runner: Runner,
  { rows, single }: Chunk,
  values: readonly unknown[],
  shape: Shape,
): Promise<PostgresRow[]> {
  const patterns = nullPatterns(layout, rows, shape.on);
  const text = layout.text(
    `upsert ${single} ${shape.on.join()} ${shape.set.join()} ${patterns.join()} ${shape.returning.join()}`,
    () => upsertText(layout, shape, patterns, single),
  );
  for (let tried = 0; tried < MAX_ATTEMPTS; tried++) {
    const { rows: returned } = await runner.write({ text, values });
    if (returned.length === rows.length) {
      const ordered: PostgresRow[] = new Array(rows.length);
      for (const { svc_ord: place, ...row } of returned) ordered[(place as number) - 1] = row;
      return layout.rows(ordered);
    }
    // Another transaction inserted or deleted some of the rows after the statement began: retry with a new snapshot.
  }
  throw new StoreUnavailable(`${layout.table.name}: other writers keep changing the same rows`);
}

/** Patterns of the key columns that are null, for example `010`: an index can find nulls only with IS NULL. */
function nullPatterns(layout: Layout, rows: readonly PostgresRow[], on: readonly string[]): string[] {
  if (!on.some((column) => column === "id" || layout.spec(column).nullable)) return ["0".repeat(on.length)];
  return [...new Set(rows.map((row) => on.map((column) => (row[column] === null ? "1" : "0")).join("")))].sort();
}

function keyJoin(layout: Layout, { on }: Shape, patterns: readonly string[], columns: Sql): Sql {
  const loose = nullsApart(layout, on);
  const joins = patterns
    .filter((pattern) => !(loose && pattern.includes("1")))
    .map((pattern) => {
      const same = on.map((column, i) =>
        pattern[i] === "1"
          ? sql`${col("t0", column)} IS NULL AND ${col("i", column)} IS NULL`
          : sql`${col("t0", column)} = ${col("i", column)}`,
      );
      return sql`SELECT ${columns} FROM input AS i JOIN ${name(layout.table.name)} AS t0 ON ${allOf(same)}`;
    });
  return joins.length > 0
    ? sql.join(joins, " UNION ALL ")
    : sql`SELECT ${columns} FROM input AS i JOIN ${name(layout.table.name)} AS t0 ON false`;
}

const differs = (column: WrittenColumn): Sql => {
  const now = col("t0", column.name);
  // Postgres has no equality for JSON, so the texts are compared, including key order.
  return column.type === "json"
    ? sql`${now}::text IS DISTINCT FROM ${col("i", column.name)}`
    : sql`${now} IS DISTINCT FROM ${typed("i", column)}`;
};

function upsertText(layout: Layout, shape: Shape, patterns: readonly string[], single: boolean): string {
  const { table, written } = layout;
  const into = name(table.name);
  const returned = (place: Sql): Sql => list([place, ...shape.returning.map((column) => col("t0", column))]);
  const set = layout.writes(shape.set);
  const isChanging = set.length > 0;
  // Without anything to set, the rows that exist are only read, which needs none of the parts for updates.
  const matched = keyJoin(
    layout,
    shape,
    patterns,
    isChanging ? sql`i.svc_ord, t0.id AS svc_id, ${anyOf(set.map(differs))} AS svc_changed` : returned(sql`i.svc_ord`),
  );

  const id = written.find((column) => column.name === "id")!;
  const fresh = sql`SELECT i.*, ${idOr(layout, id, col("i", "id"))} AS svc_id FROM input AS i
    WHERE NOT EXISTS (SELECT 1 FROM matched AS m WHERE m.svc_ord = i.svc_ord) ORDER BY i.svc_ord`;

  const values = written.map((column) => (column.name === "id" ? col("i", "svc_id") : typed("i", column)));
  // Rows are inserted in the order of the key, so that concurrent writers of the same rows cannot deadlock.
  const order = list([...shape.on.map((column) => col("i", column)), sql`i.svc_ord`]);
  const insert = sql`INSERT INTO ${into} (${list(written.map((column) => name(column.name)))})
    SELECT ${list(values)} FROM fresh AS i ORDER BY ${order}
    ON CONFLICT (${list(shape.on.map(name))}) DO NOTHING RETURNING ${layout.selectList(table.name, [...new Set(["id", ...shape.returning])])}`;
  const inserted = sql`SELECT ${returned(sql`f.svc_ord`)} FROM inserted AS t0 JOIN fresh AS f ON f.svc_id = t0.id`;
  const start = sql`WITH input AS MATERIALIZED (SELECT * FROM ${inputRows("i", written, single)}),
    matched AS MATERIALIZED (${matched}),
    fresh AS MATERIALIZED (${fresh}),
    inserted AS (${insert})`;
  if (!isChanging) return textOf(sql`${start} SELECT * FROM matched UNION ALL ${inserted}`);

  const assign = list([
    ...set.map((column) => sql`${name(column.name)} = ${typed("i", column)}`),
    sql`revision = t0.revision + 1`,
  ]);
  // Locked in the order of their ids, for the same reason.
  const held = sql`SELECT t0.id FROM matched AS m JOIN ${into} AS t0 ON t0.id = m.svc_id WHERE m.svc_changed ORDER BY t0.id FOR NO KEY UPDATE OF t0`;
  const locked = single ? sql`` : sql` JOIN held AS h ON h.id = m.svc_id`;
  const update = sql`UPDATE ${into} AS t0 SET ${assign} FROM input AS i JOIN matched AS m ON m.svc_ord = i.svc_ord${locked}
    WHERE m.svc_changed AND t0.id = m.svc_id RETURNING ${returned(sql`i.svc_ord`)}`;
  return textOf(sql`${start},
    ${single ? sql`` : sql`held AS MATERIALIZED (${held}),`}
    updated AS (${update})
    SELECT ${returned(sql`t0.svc_ord`)} FROM updated AS t0
    UNION ALL ${inserted}
    UNION ALL SELECT ${returned(sql`m.svc_ord`)} FROM matched AS m JOIN ${into} AS t0 ON t0.id = m.svc_id WHERE NOT m.svc_changed`);
}

/**
 * Encrypting the same secret twice gives different texts: if the stored secret has the same plain text, its encrypted
 * form is kept.
 */
async function keepSealed(
  layout: Layout,
  runner: Runner,
  chunk: Chunk,
  shape: Shape,
  secret: readonly string[],
): Promise<readonly unknown[]> {
  const { written } = layout;
  const patterns = nullPatterns(layout, chunk.rows, shape.on);
  const text = layout.text(`sealed ${chunk.single} ${shape.on.join()} ${secret.join()} ${patterns.join()}`, () => {
    const matches = keyJoin(
      layout,
      shape,
      patterns,
      list([sql`i.svc_ord`, sql`t0.id AS svc_id`, ...secret.map((column) => col("t0", column))]),
    );
    const input = sql`WITH input AS MATERIALIZED (SELECT * FROM ${inputRows("i", written, chunk.single)})`;
    return textOf(
      sql`${input} SELECT found.* FROM (${matches}) AS found JOIN ${name(layout.table.name)} AS held ON held.id = found.svc_id FOR UPDATE OF held`,
    );
  });
  const { rows: held } = await runner.read({ text, values: chunk.values });
  if (held.length === 0) return chunk.values;
  const sealed = new Map<PostgresRow, PostgresRow>();
  for (const row of held) sealed.set(chunk.rows[(row.svc_ord as number) - 1]!, row);

  const kept = written.map((column): WrittenColumn => {
    if (!secret.includes(column.name)) return column;
    const encode = (row: PostgresRow) => {
      const before = sealed.get(row)?.[column.name];
      const same =
        typeof before === "string" &&
        JSON.stringify(layout.opened(column.spec, before)) === JSON.stringify(row[column.name]);
      return same ? before : column.encode(row);
    };
    return { ...column, encode };
  });
  const [again] = [...chunks(kept, chunk.rows)];
  return again!.values;
}
