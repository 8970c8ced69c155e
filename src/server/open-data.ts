// Opens a data directory or a database, for `serve` and the `db` commands.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import {
  dropServerKey,
  findServerKey,
  isKeyUnused,
  loadServerKey,
  markKeyUnused,
  markKeyUsed,
  nextServerKey,
} from "./platform/core/security/server-key.ts";
import { BadSetting } from "./platform/core/security/tls.ts";
import type { Settings } from "./platform/core/settings/settings.ts";
import type { AllTables, ServerStore } from "./platform/core/tables.ts";
import { type Blobs, BlobsMisconfigured, BlobsUnavailable } from "./platform/store/blobs/blobs.ts";
import { readBucketUrl } from "./platform/store/blobs/bucket-url.ts";
import { fileBlobs } from "./platform/store/blobs/files.ts";
import { type Cipher, createCipher, WrongKey } from "./platform/store/cipher.ts";
import { FINISH, type Rotation } from "./platform/store/key-rotation.ts";
import type { PostgresOptions } from "./platform/store/postgres/open.ts";
import { StoreUnavailable } from "./platform/store/store.ts";
import { tables } from "./tables.ts";

export async function openStore(settings: Settings, log: Logger): Promise<ServerStore> {
  await assertHasData(settings);
  const isNew = (await findServerKey(settings)) === null;
  const cipher = createCipher(await serverKeyFor(settings));
  const store = await openPlace(settings, cipher, log, { migrate: settings.database_migrate }).catch(
    async (error: unknown) => {
      if (!(error instanceof WrongKey)) throw error;
      // Another server initialised this database first, so the key generated here has encrypted nothing.
      if (isNew) await dropServerKey(settings.data_dir);
      if ((await nextServerKey(settings.data_dir)) !== null)
        throw new WrongKey(`${error.message}; a rotation of the server key was interrupted: ${FINISH}`);
      throw new WrongKey(`${error.message}. ${bringKeyTo(settings.data_dir)}`);
    },
  );
  await markKeyUsed(settings.data_dir);
  return store;
}

const bringKeyTo = (dataDir: string): string =>
  `Copy the server.key that belongs to the data to ${join(dataDir, "server.key")}, or set SVC_SERVER_PRIVATE_KEY to its content.`;

/**
 * Throws if there is a key file but no data: the data is lost, and a server with an empty store would let anybody
 * create the first admin.
 */
async function assertHasData(settings: Settings): Promise<void> {
  const { data_dir: dir, database_url, server_private_key } = settings;
  if (database_url !== undefined || server_private_key !== undefined) return;
  if ((await findServerKey(settings)) === null || (await keyIdAt(settings)) !== null || (await isKeyUnused(dir)))
    return;
  throw new BadSetting(
    `${join(dir, "db")} has no data, but data was stored with ${join(dir, "server.key")}: the store's files are missing. ` +
      "Restore them, or remove server.key to start with an empty store.",
  );
}

/**
 * Returns the existing key. A new key is generated only if no stored data is encrypted with another one, which a new
 * key could not decrypt.
 */
export async function serverKeyFor(settings: Settings): Promise<Uint8Array> {
  const existing = await findServerKey(settings);
  if (existing !== null) return existing;
  const keyId = await keyIdAt(settings);
  if (keyId === null) {
    await markKeyUnused(settings.data_dir);
    return loadServerKey(settings);
  }
  const where = settings.database_url === undefined ? join(settings.data_dir, "db") : whereOf(settings.database_url);
  const which = keyId === "unknown" ? "" : ` with key ${keyId}`;
  throw new WrongKey(
    `${where} has data that is encrypted${which}, and there is no server key. ${bringKeyTo(settings.data_dir)}`,
  );
}

/** The id of the key that the stored data is encrypted with, or null if there is no data. */
async function keyIdAt(settings: Settings): Promise<string | null> {
  const url = settings.database_url;
  if (url === undefined) {
    const [{ keyIdOfStore }, { realFiles }] = await Promise.all([
      import("./platform/store/lowdb/loading.ts"),
      import("./platform/store/lowdb/files.ts"),
    ]);
    return keyIdOfStore(realFiles, join(settings.data_dir, "db"));
  }
  const { keyIdOfDatabase } = await import("./platform/store/postgres/migrate.ts");
  return keyIdOfDatabase(url).catch((error) => {
    throw new StoreUnavailable(`${whereOf(url)}: ${(error as Error).message}`);
  });
}

/** Engines are imported on use, so that a server loads only the one it needs. */
export async function openPlace(
  settings: Settings,
  cipher: Cipher,
  log: Logger,
  migration: Pick<PostgresOptions<AllTables>, "migrate" | "onMigrated"> & {
    /** Opens the directory read-only; a server may be using it. */
    readonly beside?: boolean;
  },
): Promise<ServerStore> {
  if (settings.database_url === undefined && migration.beside) {
    const { openBeside } = await import("./platform/store/lowdb/open-beside.ts");
    return openBeside({ tables, dir: join(settings.data_dir, "db"), cipher, log });
  }
  if (settings.database_url === undefined) {
    await mkdir(settings.data_dir, { recursive: true, mode: 0o700 });
    const { openLowdb } = await import("./platform/store/lowdb/open.ts");
    return openLowdb({
      tables,
      dir: join(settings.data_dir, "db"),
      cipher,
      log,
      snapshotBytes: settings.snapshot_bytes,
    });
  }
  const { openPostgres } = await import("./platform/store/postgres/open.ts");
  const url = settings.database_url;
  const poolSize = settings.database_pool_size;
  const { migrate, onMigrated } = migration;
  return openPostgres({ tables, url, cipher, log, poolSize, migrate, onMigrated }).catch((error) => {
    throw error instanceof StoreUnavailable ? new StoreUnavailable(`${whereOf(url)}: ${error.message}`) : error;
  });
}

/** Encrypts all secrets in a database or data directory with a new key. Returns the number of values. */
export async function resealPlace(
  place: { readonly url: string } | { readonly dir: string },
  rotation: Rotation,
): Promise<number> {
  if ("url" in place) {
    const { rotatePostgres } = await import("./platform/store/postgres/rotate.ts");
    return (await rotatePostgres({ ...rotation, url: place.url, tables })).sealed;
  }
  const dir = join(place.dir, "db");
  const { rotateLowdb } = await import("./platform/store/lowdb/rotate.ts");
  try {
    return (await rotateLowdb({ ...rotation, dir, tables })).sealed;
  } catch (error) {
    if (error instanceof WrongKey && (await opensWith(dir, rotation.to))) return 0;
    throw error;
  }
}

/** Whether an interrupted key rotation has already changed the store's key. */
async function opensWith(dir: string, cipher: Cipher): Promise<boolean> {
  const { openLowdb } = await import("./platform/store/lowdb/open.ts");
  try {
    await (await openLowdb({ tables, dir, cipher })).close();
    return true;
  } catch (error) {
    if (error instanceof WrongKey) return false;
    throw error;
  }
}

/** Counts the migrations of a database that have run, and names those that are missing. */
export async function schemaOf(url: string): Promise<{ applied: number; pending: string[] }> {
  const { migrationState } = await import("./platform/store/postgres/migrate.ts");
  return migrationState(url);
}

/** Host and database of a URL, without user and password. */
function whereOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `Postgres at ${host || "localhost"}${pathname}`;
}

type BlobSettings = Pick<Settings, "data_dir" | "blobs_url" | "blobs_access_key_id" | "blobs_secret_access_key">;

/** The library for buckets is large, so it is loaded only if a bucket is used. */
async function openBlobs(settings: BlobSettings): Promise<Blobs> {
  if (settings.blobs_url === undefined) return fileBlobs(join(settings.data_dir, "blobs"));
  const { S3Blobs } = await import("./platform/store/blobs/s3/blobs.ts");
  const { blobs_access_key_id: accessKeyId, blobs_secret_access_key: secretAccessKey } = settings;
  return new S3Blobs({
    ...readBucketUrl(settings.blobs_url),
    credentials: accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey },
  });
}

/** Throws a `BadSetting` if the bucket is not there, or refuses this server. */
export async function openCheckedBlobs(settings: BlobSettings): Promise<Blobs> {
  const blobs = await openBlobs(settings);
  try {
    await blobs.check();
    return blobs;
  } catch (error) {
    await blobs.close();
    if (!(error instanceof BlobsUnavailable)) throw error;
    const next =
      error instanceof BlobsMisconfigured
        ? "Correct the URL, or SVC_BLOBS_ACCESS_KEY_ID and SVC_BLOBS_SECRET_ACCESS_KEY (or the AWS_* variables); " +
          "the key needs to list, read, write and delete objects."
        : "Start its server, or correct the URL.";
    throw new BadSetting(`blobs_url (SVC_BLOBS_URL): ${error.message}. ${next}`);
  }
}
