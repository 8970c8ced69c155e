// Migrates a database to the schema of this program. If several servers start at once, one migrates and the others
// wait.
import type pg from "pg";
import { type Cipher, keyIdOf, WrongKey } from "../cipher.ts";
import { FINISH } from "../key-rotation.ts";
import type { Tables } from "../store.ts";
import { connectClient, destroy } from "./connection/pool.ts";
import { lockNumber } from "./connection/runner.ts";
import { isLockTimeout } from "./errors.ts";
import { migrations } from "./migrations/index.ts";
import { checksumOf, type Migration, titleOf } from "./migrations/migration.ts";
import { ddl, RAISE_REVISION, schemaObjects } from "./schema.ts";
import { sql, textOf } from "./sql.ts";

const OLDEST_SERVER_VERSION = 150_000;
const BOOTSTRAP = `CREATE TABLE IF NOT EXISTS svc_meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS svc_migrations (number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
${RAISE_REVISION}`;

const UNRELEASED =
  "the tables of this database were created by a development version from before the first release, which this version cannot upgrade: make a backup with the version that you used until now (svc db backup), restore it into an empty database with svc 0.2.0 (svc db restore), start that once (svc serve), and upgrade then";

interface MigrateResult {
  /** Titles of the migrations that ran. */
  readonly applied: readonly string[];
  /** Whether text search has its indexes. False if the database lacks pg_trgm and the user may not create it. */
  readonly trigram: boolean;
}

export async function checkVersion(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ number: string; text: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS text",
  );
  const [version] = rows;
  if (Number(version?.number) < OLDEST_SERVER_VERSION)
    throw new Error(`svc needs Postgres 15 or newer; this database is ${version?.text}`);
}

/** The numbers of the migrations that ran. Throws if they do not match the migrations of this program. */
async function applied(client: pg.ClientBase, migrations: readonly Migration[]): Promise<Set<number>> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    "SELECT to_regclass('svc_migrations') IS NOT NULL AS there",
  );
  if (!tables[0]?.there) return new Set();
  const { rows } = await client.query<{ number: number; name: string; checksum: string }>(
    "SELECT number, name, checksum FROM svc_migrations ORDER BY number",
  );
  const byNumber = new Map(migrations.map((each) => [each.number, each]));
  for (const row of rows) {
    const migration = byNumber.get(row.number);
    if (row.number === 1 && migration && checksumOf(migration) !== row.checksum) throw new Error(UNRELEASED);
    if (!migration)
      throw new Error(
        `the database was migrated by a newer svc (migration ${row.number}, ${row.name}); this version has migrations up to ${migrations.at(-1)?.number ?? 0}: upgrade svc`,
      );
    if (checksumOf(migration) !== row.checksum)
      throw new Error(`migration ${titleOf(migration)} differs from the one that was applied to the database`);
  }
  return new Set(rows.map((row) => row.number));
}

async function pending(client: pg.ClientBase, migrations: readonly Migration[]): Promise<Migration[]> {
  const done = await applied(client, migrations);
  return migrations.filter(({ number }) => !done.has(number));
}

/**
 * Reports the migration state of the database at this URL: how many migrations ran and which are missing. Reads only.
 */
export async function migrationState(url: string): Promise<{ applied: number; pending: string[] }> {
  const client = await connectClient(url);
  try {
    await checkVersion(client);
    const waiting = await pending(client, migrations);
    return { applied: migrations.length - waiting.length, pending: waiting.map(titleOf) };
  } finally {
    destroy(client);
  }
}

export async function requireCurrent(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  const waiting = await pending(client, migrations);
  if (waiting.length > 0)
    throw new Error(
      `the database schema is outdated (${waiting.map(titleOf).join(", ")} not applied), run: svc db migrate`,
    );
}

/**
 * Runs `work` with the migration lock. Other servers poll for the lock instead of waiting inside a statement: a
 * waiting statement has a snapshot, and `CREATE INDEX CONCURRENTLY` would wait for it.
 */
async function locked<R>(client: pg.ClientBase, work: () => Promise<R>): Promise<R> {
  const number = lockNumber("svc migrations");
  for (;;) {
    const { rows } = await client.query<{ held: boolean }>(`SELECT pg_try_advisory_lock(${number}) AS held`);
    if (rows[0]?.held) break;
    await new Promise((done) => setTimeout(done, 100));
  }
  try {
    await client.query("SET statement_timeout = 0; SET lock_timeout = '2s'");
    return await work();
  } finally {
    await client.query(`SELECT pg_advisory_unlock(${number})`);
  }
}

async function hasTrigram(client: pg.ClientBase): Promise<boolean> {
  try {
    await client.query("CREATE EXTENSION IF NOT EXISTS pg_trgm");
    return true;
  } catch {
    return false;
  }
}

export function migrate(
  client: pg.ClientBase,
  tables: Tables,
  migrations: readonly Migration[],
): Promise<MigrateResult> {
  return locked(client, async () => {
    await client.query(BOOTSTRAP);
    const waiting = await pending(client, migrations);
    for (const migration of waiting) await apply(client, migration);
    const trigram = await hasTrigram(client);
    const isNew = waiting.length === migrations.length;
    if (trigram) await (isNew ? createSearchIndexes(client, tables) : updateSearchIndexes(client, tables));
    return { applied: waiting.map(titleOf), trigram };
  });
}

async function apply(client: pg.ClientBase, migration: Migration): Promise<void> {
  const { number, name, statements, transactional } = migration;
  const record = textOf(
    sql`INSERT INTO svc_migrations (number, name, checksum) VALUES (${sql.lit(number)}, ${sql.lit(name)}, ${sql.lit(checksumOf(migration))})`,
  );
  if (!transactional) {
    for (const statement of [...statements, record]) await patiently(() => client.query(statement));
    return;
  }
  // One round trip: the first migration has more than a thousand statements.
  const script = ["BEGIN", ...statements, record, "COMMIT"].join("\n;\n");
  await patiently(async () => {
    try {
      await client.query(script);
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  });
}

/** Retries when a lock was not acquired in time, so that statements queued behind the attempt can pass. */
async function patiently(work: () => Promise<unknown>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isLockTimeout(error) || tried === 60) throw error;
      await new Promise((done) => setTimeout(done, 500 + Math.random() * 1000));
    }
  }
}

const searchIndexes = (tables: Tables) => schemaObjects(tables).filter(({ kind }) => kind === "search");

/** For a database that no server uses yet. */
async function createSearchIndexes(client: pg.ClientBase, tables: Tables): Promise<void> {
  await client.query(
    searchIndexes(tables)
      .map(({ sql: statement }) => statement)
      .join(";\n"),
  );
}

/**
 * Indexes for text search are not part of the migrations: they are created whenever the database supports them, even
 * if the extension is installed later. An index left invalid by a failed attempt is rebuilt.
 */
async function updateSearchIndexes(client: pg.ClientBase, tables: Tables): Promise<void> {
  const { rows } = await client.query<{ name: string; valid: boolean }>(
    `SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = current_schema()::regnamespace`,
  );
  const there = new Map(rows.map(({ name, valid }) => [name, valid]));
  for (const { name, sql: statement } of searchIndexes(tables)) {
    if (there.get(name)) continue;
    if (there.has(name)) await patiently(() => client.query(`DROP INDEX CONCURRENTLY "${name}"`));
    await patiently(() => client.query(statement.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY")));
  }
}

/** Creates missing declared tables without migrations: for tests and for tables that exist only during a test. */
export function create(client: pg.ClientBase, tables: Tables): Promise<void> {
  return locked(client, async () => {
    await client.query(BOOTSTRAP);
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()",
    );
    const there = new Set(rows.map(({ name }) => name));
    const missing = Object.fromEntries(Object.entries(tables).filter(([, table]) => !there.has(table.name)));
    if (Object.keys(missing).length > 0)
      await client.query(ddl(missing, { trigram: await hasTrigram(client) }).join(";\n"));
  });
}

/**
 * Keys in svc_meta: a text encrypted with the current key; and, during a key rotation, the ids of the old and the new
 * key.
 */
export const CANARY = "canary";
export const ROTATION = "key_rotation";

/**
 * The id of the key that the secrets in the database are encrypted with, or null if no server has initialised it yet.
 */
export async function keyIdOfDatabase(url: string): Promise<string | null> {
  const client = await connectClient(url);
  try {
    const lookup = await client.query<{ name: string | null }>("SELECT to_regclass('svc_meta')::text AS name");
    if (lookup.rows[0]?.name == null) return null;
    const { rows } = await client.query<{ value: string }>("SELECT value FROM svc_meta WHERE key = $1", [CANARY]);
    return keyIdOf(rows[0]?.value ?? "");
  } finally {
    destroy(client);
  }
}

/** Verifies that this server's key can decrypt the database's secrets, before anything is read or written. */
export async function checkKey(client: pg.ClientBase, cipher: Cipher): Promise<void> {
  const rotation = await client.query<{ value: string }>("SELECT value FROM svc_meta WHERE key = $1", [ROTATION]);
  if (rotation.rows.length > 0)
    throw new WrongKey(`the rotation of this database's server key was interrupted: ${FINISH}`);
  const canary = "svc canary";
  await client.query("INSERT INTO svc_meta (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", [
    CANARY,
    cipher.seal(canary),
  ]);
  const { rows } = await client.query<{ value: string }>("SELECT value FROM svc_meta WHERE key = $1", [CANARY]);
  try {
    if (cipher.open(rows[0]?.value ?? "") === canary) return;
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw new WrongKey(
      `the secrets in this database are encrypted with a different server key: start svc with the key of the other servers (${why})`,
    );
  }
  throw new WrongKey("the value in svc_meta that verifies the server key is corrupt");
}
