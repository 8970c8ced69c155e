// Locations of data as the `db` commands accept them: a data directory, or a postgres:// URL.
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Logger } from "pino";
import { openCheckedBlobs, openPlace, schemaOf, serverKeyFor } from "./open-data.ts";
import { bringServerKey, findServerKey, markKeyUsed } from "./platform/core/security/server-key.ts";
import { BadSetting } from "./platform/core/security/tls.ts";
import { readSettings } from "./platform/core/settings/sources.ts";
import type { ServerStore } from "./platform/core/tables.ts";
import type { Blobs } from "./platform/store/blobs/blobs.ts";
import { isBucketUrl } from "./platform/store/blobs/bucket-url.ts";
import { fileBlobs } from "./platform/store/blobs/files.ts";
import { type Cipher, createCipher } from "./platform/store/cipher.ts";

export interface PlaceOptions {
  /** A directory, or a postgres:// URL. */
  readonly place: string;
  /** Directory of the blobs and the server key if the place is a database. */
  readonly dataDir: string;
  /** An s3:// URL or a folder; default: the folder blobs in the data directory. */
  readonly blobs?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** The key of another place, to encrypt with the same key. */
  readonly key?: Uint8Array;
  /** Runs the migrations that the database lacks. */
  readonly migrate?: boolean;
  readonly onMigrated?: (applied: readonly string[]) => void;
  /** The place need not exist yet. */
  readonly create?: boolean;
  /** Opens the directory read-only; a server may be using it. */
  readonly beside?: boolean;
}

export interface OpenedPlace {
  readonly store: ServerStore;
  readonly blobs: Blobs;
  readonly cipher: Cipher;
  readonly key: Uint8Array;
}

export const isUrl = (place: string): boolean => /^postgres(ql)?:\/\//.test(place);

/** Whether any data is stored at the place. A database without migrations counts as empty. */
export async function isFilled(place: string): Promise<boolean> {
  if (isUrl(place)) return (await schemaOf(place)).applied > 0;
  return access(join(place, "db")).then(
    () => true,
    () => false,
  );
}

/** The titles of the migrations that a database lacks. A data directory has no migrations. */
export const pendingAt = async (place: string): Promise<string[]> =>
  isUrl(place) ? (await schemaOf(place)).pending : [];

/** The key of the place, from the environment or a file. Never generates one. */
export async function knownKey({ place, dataDir, env }: Pick<PlaceOptions, "place" | "dataDir" | "env">) {
  const settings = readSettings({ flags: { data_dir: isUrl(place) ? dataDir : place }, env: onlyKey(env) });
  return findServerKey(settings);
}

export async function openDataPlace(options: PlaceOptions): Promise<OpenedPlace> {
  const { place, env, log } = options;
  const dataDir = isUrl(place) ? options.dataDir : place;
  if (!isUrl(place) && !options.create) await mustExist(join(place, "db"));
  const settings = readSettings({
    flags: { data_dir: dataDir, ...(isUrl(place) ? { database_url: place } : {}) },
    env: onlyKey(env),
  });
  const key = options.key ?? (await serverKeyFor(settings));
  // A new directory gets the key that its data is encrypted with, unless the key comes from the environment.
  if (options.key !== undefined && !isUrl(place) && !env.SVC_SERVER_PRIVATE_KEY) await bringServerKey(place, key);
  const cipher = createCipher(key);
  const store = await openPlace(settings, cipher, log, {
    migrate: options.migrate,
    onMigrated: options.onMigrated,
    beside: options.beside ?? false,
  });
  if (!options.beside) await markKeyUsed(dataDir);
  try {
    const blobs = await openBlobsAt(options.blobs ?? join(dataDir, "blobs"), env);
    return { store, blobs, cipher, key };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** An s3:// URL, or a folder. */
export async function openBlobsAt(place: string, env: PlaceOptions["env"]): Promise<Blobs> {
  if (!isBucketUrl(place)) return fileBlobs(resolve(place));
  const { SVC_BLOBS_ACCESS_KEY_ID, SVC_BLOBS_SECRET_ACCESS_KEY } = env;
  return openCheckedBlobs(
    readSettings({ flags: { blobs_url: place }, env: { SVC_BLOBS_ACCESS_KEY_ID, SVC_BLOBS_SECRET_ACCESS_KEY } }),
  );
}

/** SVC_* variables for the location of the data must not override the place that was passed to the command. */
const onlyKey = (env: PlaceOptions["env"]) => ({ SVC_SERVER_PRIVATE_KEY: env.SVC_SERVER_PRIVATE_KEY });

/** Throws if the folder of the blobs does not exist, which may be a misspelling. */
export async function mustBePlace(blobs: string): Promise<void> {
  if (isBucketUrl(blobs)) return;
  await access(blobs).catch(() => {
    throw new BadSetting(`${blobs}: there is no such folder`);
  });
}

async function mustExist(dir: string): Promise<void> {
  await access(dir).catch(() => {
    throw new BadSetting(`${dir}: there is no store here`);
  });
}
