// Opening what a data directory or a database holds, as `serve` and the `db` commands both do.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Cipher, createCipher } from "./core/cipher.ts";
import { loadServerKey } from "./core/server-key.ts";
import type { Settings } from "./core/settings.ts";
import { fileBlobs } from "./store/blobs/files.ts";
import type { PostgresOptions } from "./store/postgres/open.ts";
import { StoreUnavailable } from "./store/store.ts";
import { type ServerStore, tables } from "./tables.ts";

export async function openStore(settings: Settings, log: Logger): Promise<ServerStore> {
  const cipher = createCipher(await loadServerKey(settings));
  return openPlace(settings, cipher, log, { migrate: settings.database_migrate });
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
