// Encrypts every secret in a database with a new key while no server runs. Each page is stored by itself, so an
// interrupted run can be continued, and a mark in svc_meta keeps servers from starting until the rotation is
// complete.
import type pg from "pg";
import { keyIdOf, WrongKey } from "../cipher.ts";
import { FINISH, type Rotation, type RotationResult, StoreInUse, secretColumns } from "../key-rotation.ts";
import type { Tables } from "../store.ts";
import type { Table } from "../table.ts";
import { connectClient, destroy } from "./connection/pool.ts";
import { lockNumber } from "./connection/runner.ts";
import { CANARY, checkVersion, ROTATION, requireCurrent } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import type { Migration } from "./migrations/migration.ts";
import { col, name, sql, textOf } from "./sql.ts";

interface RotateOptions extends Rotation {
  readonly url: string;
  readonly tables: Tables;
  /** The migrations that the schema must include. Null skips the check (for tables created without migrations). */
  readonly migrations?: readonly Migration[] | null;
  readonly pageSize?: number;
  /** How long to wait for servers that are shutting down, in milliseconds. */
  readonly patience?: number;
}

export async function rotatePostgres(options: RotateOptions): Promise<RotationResult> {
  const client = await connectClient(options.url);
  let isLocked = false;
  try {
    await checkVersion(client);
    const expected = options.migrations === undefined ? migrations : options.migrations;
    if (expected !== null) await requireCurrent(client, expected);
    const { rows } = await client.query<{ held: boolean }>(
      `SELECT pg_try_advisory_lock(${lockNumber("svc key rotation")}) AS held`,
    );
    if (!rows[0]?.held) throw new StoreInUse("another process is rotating the key of this database");
    isLocked = true;
    if (await isDone(client, options)) return { sealed: 0 };
    await mark(client, options);
    await mustBeAlone(client, options.patience ?? 3_000);
    let sealed = 0;
    for (const table of Object.values(options.tables))
      for (const column of secretColumns(table)) sealed += await sealColumn(client, table, column, options);
    await finish(client, options);
    return { sealed };
  } finally {
    // Postgres ends the lock of a lost connection only when it notices, so that the next rotation would be refused.
    if (isLocked) await client.query("SELECT pg_advisory_unlock_all()").catch(() => {});
    destroy(client);
  }
}

const meta = async (client: pg.ClientBase, key: string): Promise<string | null> => {
  const { rows } = await client.query<{ value: string }>("SELECT value FROM svc_meta WHERE key = $1", [key]);
  return rows[0]?.value ?? null;
};

async function isDone(client: pg.ClientBase, { from, to }: Rotation): Promise<boolean> {
  const marked = await meta(client, ROTATION);
  const rotation = `${from.keyId} ${to.keyId}`;
  if (marked !== null && marked !== rotation)
    throw new WrongKey(
      `a rotation from key ${marked.replace(" ", " to key ")} was interrupted: ${FINISH} and those keys`,
    );
  const canary = await meta(client, CANARY);
  const key = canary === null ? from.keyId : keyIdOf(canary);
  if (key !== from.keyId && key !== to.keyId)
    throw new WrongKey(
      `the secrets in this database are encrypted with key ${key}, but the given keys are ${rotation}`,
    );
  return marked === null && key === to.keyId;
}

const mark = (client: pg.ClientBase, { from, to }: Rotation) =>
  client.query("INSERT INTO svc_meta (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", [
    ROTATION,
    `${from.keyId} ${to.keyId}`,
  ]);

/** Starting servers see the mark, but running servers would continue to use the old key, so there must be none. */
async function mustBeAlone(client: pg.ClientBase, patience: number): Promise<void> {
  const until = performance.now() + patience;
  for (;;) {
    const { rows } = await client.query<{ others: number }>(
      `SELECT count(*)::integer AS others FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'svc' AND pid <> pg_backend_pid()`,
    );
    const others = rows[0]?.others ?? 0;
    if (others === 0) return;
    if (performance.now() >= until) {
      await unmarkIfUntouched(client);
      throw new StoreInUse(`servers have ${others} connections to this database: stop all servers first`);
    }
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Removes the mark if no value has been encrypted with the new key yet, so that servers can start again. */
async function unmarkIfUntouched(client: pg.ClientBase): Promise<void> {
  await client.query("DELETE FROM svc_meta WHERE key = $1 AND NOT EXISTS (SELECT 1 FROM svc_meta WHERE key = $2)", [
    ROTATION,
    BEGUN,
  ]);
}

/** Set in svc_meta before the first value is encrypted with the new key. */
const BEGUN = "key_rotation_begun";

async function sealColumn(
  client: pg.ClientBase,
  table: Table,
  column: string,
  options: RotateOptions,
): Promise<number> {
  const { from, to, pageSize = 500, onProgress } = options;
  const read = textOf(sql`SELECT id, ${name(column)} AS sealed FROM ${name(table.name)}
    WHERE id > ${0} AND ${name(column)} IS NOT NULL AND ${name(column)} NOT LIKE ${""} ORDER BY id LIMIT ${0}`);
  const write = textOf(sql`UPDATE ${name(table.name)} AS t SET ${name(column)} = n.sealed
    FROM unnest(${""}::bigint[], ${""}::text[], ${""}::text[]) AS n(id, was, sealed)
    WHERE t.id = n.id AND ${col("t", column)} = n.was`);
  let after = 0;
  let done = 0;
  for (;;) {
    onProgress?.({ table: table.name, sealed: done });
    const { rows } = await client.query<{ id: string | number; sealed: string }>(read, [
      after,
      `v1.${to.keyId}.%`,
      pageSize,
    ]);
    if (rows.length === 0) return done;
    const fresh = rows.map(({ id, sealed }) => {
      try {
        return to.seal(from.open(sealed));
      } catch (error) {
        throw new WrongKey(`${table.name} ${id}, ${column}: ${error instanceof Error ? error.message : error}`);
      }
    });
    await client.query("INSERT INTO svc_meta (key, value) VALUES ($1, '') ON CONFLICT DO NOTHING", [BEGUN]);
    await client.query(write, [rows.map(({ id }) => id), rows.map(({ sealed }) => sealed), fresh]);
    done += rows.length;
    after = Number(rows.at(-1)!.id);
  }
}

/** Removes the mark, so that servers can start with the new key. */
async function finish(client: pg.ClientBase, { tables, to }: RotateOptions): Promise<void> {
  await client.query("BEGIN");
  try {
    for (const table of Object.values(tables))
      for (const column of secretColumns(table)) {
        const left = textOf(sql`SELECT count(*)::integer AS count FROM ${name(table.name)}
          WHERE ${name(column)} IS NOT NULL AND ${name(column)} NOT LIKE ${""}`);
        const { rows } = await client.query<{ count: number }>(left, [`v1.${to.keyId}.%`]);
        if ((rows[0]?.count ?? 0) > 0)
          throw new StoreInUse(
            `${table.name}: a server wrote with the old key during the rotation: stop all servers, ${FINISH}`,
          );
      }
    await client.query(
      "INSERT INTO svc_meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      [CANARY, to.seal("svc canary")],
    );
    await client.query("DELETE FROM svc_meta WHERE key = ANY ($1)", [[ROTATION, BEGUN]]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}
