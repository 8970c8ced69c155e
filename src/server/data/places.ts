// Locations of data as the `db` commands accept them: a data directory, or a postgres:// URL.
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { bringServerKey, findServerKey, markKeyUsed } from "../core/security/server-key.ts";
import { BadSetting } from "../core/security/tls.ts";
import { readSettings } from "../core/settings/sources.ts";
import type { ServerStore } from "../core/tables.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { fileBlobs } from "../store/blobs/files.ts";
import { type Cipher, createCipher } from "../store/cipher.ts";
import { openPlace, schemaOf, serverKeyFor } from "./open.ts";

export interface PlaceOptions {
  /** A directory, or a postgres:// URL. */
  readonly place: string;
  /** Directory of the blobs and the server key if the place is a database. */
  readonly dataDir: string;
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
  return { store, blobs: fileBlobs(join(dataDir, "blobs")), cipher, key };
}

/** SVC_* variables for the location of the data must not override the place that was passed to the command. */
const onlyKey = (env: PlaceOptions["env"]) => ({ SVC_SERVER_PRIVATE_KEY: env.SVC_SERVER_PRIVATE_KEY });

async function mustExist(dir: string): Promise<void> {
  await access(dir).catch(() => {
    throw new BadSetting(`${dir}: there is no store here`);
  });
}
