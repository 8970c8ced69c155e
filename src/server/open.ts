// Opening what a data directory or a database holds, as `serve` and the `db` commands both do.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Cipher, createCipher, WrongKey } from "./core/cipher.ts";
import { loadServerKey, nextServerKey } from "./core/server-key.ts";
import type { Settings } from "./core/settings.ts";
import { fileBlobs } from "./store/blobs/files.ts";
import { FINISH, type Rotation } from "./store/key-rotation.ts";
import type { PostgresOptions } from "./store/postgres/open.ts";
import { StoreUnavailable } from "./store/store.ts";
import { type ServerStore, tables } from "./tables.ts";

export async function openStore(settings: Settings, log: Logger): Promise<ServerStore> {
  const cipher = createCipher(await loadServerKey(settings));
  return openPlace(settings, cipher, log, { migrate: settings.database_migrate }).catch(async (error: unknown) => {
    if (!(error instanceof WrongKey) || (await nextServerKey(settings.data_dir)) === null) throw error;
    throw new WrongKey(`${error.message}; the change of the server key has not come to its end: ${FINISH}`);
  });
}

/** Engines are loaded when they are used: who starts on one does not wait for the other. */
export async function openPlace(
  settings: Settings,
  cipher: Cipher,
  log: Logger,
  migration: Pick<PostgresOptions<typeof tables>, "migrate" | "onMigrated">,
): Promise<ServerStore> {
  if (settings.database_url === undefined) {
    await mkdir(settings.data_dir, { recursive: true, mode: 0o700 });
    const { openLowdb } = await import("./store/lowdb/open.ts");
    return openLowdb({
      tables,
      dir: join(settings.data_dir, "db"),
      cipher,
      log,
      snapshotBytes: settings.snapshot_bytes,
    });
  }
  const { openPostgres } = await import("./store/postgres/open.ts");
  const url = settings.database_url;
  const poolSize = settings.database_pool_size;
  return openPostgres({ tables, url, cipher, log, poolSize, ...migration }).catch((error) => {
    throw error instanceof StoreUnavailable ? new StoreUnavailable(`${whereOf(url)}: ${error.message}`) : error;
  });
}

/** Seals everything in a database, or in a data directory, with another key. Gives how many values that were. */
export async function resealPlace(
  place: { readonly url: string } | { readonly dir: string },
  rotation: Rotation,
): Promise<number> {
  if ("url" in place) {
    const { rotatePostgres } = await import("./store/postgres/rotate.ts");
    return (await rotatePostgres({ ...rotation, url: place.url, tables })).sealed;
  }
  const dir = join(place.dir, "db");
  const { rotateLowdb } = await import("./store/lowdb/rotate.ts");
  try {
    return (await rotateLowdb({ ...rotation, dir, tables })).sealed;
  } catch (error) {
    if (error instanceof WrongKey && (await opensWith(dir, rotation.to))) return 0;
    throw error;
  }
}

/** A change of keys that was broken off may have come as far as the store. */
async function opensWith(dir: string, cipher: Cipher): Promise<boolean> {
  const { openLowdb } = await import("./store/lowdb/open.ts");
  try {
    await (await openLowdb({ tables, dir, cipher })).close();
    return true;
  } catch (error) {
    if (error instanceof WrongKey) return false;
    throw error;
  }
}

/** Which migrations a database has and lacks. */
export async function schemaOf(url: string): Promise<{ applied: number; pending: string[] }> {
  const { migrationState } = await import("./store/postgres/migrate.ts");
  return migrationState(url);
}

/** Host and database of a URL, without user and password. */
function whereOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `Postgres at ${host || "localhost"}${pathname}`;
}

export const openBlobs = (settings: Settings) => fileBlobs(join(settings.data_dir, "blobs"));
