// Where data lies, as the `db` commands name it: a data directory, or a postgres:// URL.
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Cipher, createCipher } from "./core/cipher.ts";
import { findServerKey, loadServerKey } from "./core/server-key.ts";
import { readSettings } from "./core/settings-sources.ts";
import { BadSetting } from "./core/tls.ts";
import { openPlace, schemaOf } from "./open.ts";
import type { Blobs } from "./store/blobs/blobs.ts";
import { fileBlobs } from "./store/blobs/files.ts";
import type { ServerStore } from "./tables.ts";

export interface PlaceOptions {
  /** A directory, or a postgres:// URL. */
  readonly place: string;
  /** Blobs and the server key lie here when the place is a database. */
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** The key of another place, to seal with the same. */
  readonly key?: Uint8Array;
  /** Runs the migrations that a database lacks. */
  readonly migrate?: boolean;
  readonly onMigrated?: (applied: readonly string[]) => void;
  /** The place may not exist yet. */
  readonly create?: boolean;
}

export interface OpenedPlace {
  readonly store: ServerStore;
  readonly blobs: Blobs;
  readonly cipher: Cipher;
  readonly key: Uint8Array;
}

export const isUrl = (place: string): boolean => /^postgres(ql)?:\/\//.test(place);

/** Whether something is stored at the place. A database that no migration has run on has nothing. */
export async function isFilled(place: string): Promise<boolean> {
  if (isUrl(place)) return (await schemaOf(place)).applied > 0;
  return access(join(place, "db")).then(
    () => true,
    () => false,
  );
}

/** The titles of the migrations that a database lacks; a data directory never lacks any. */
export const pendingAt = async (place: string): Promise<string[]> =>
  isUrl(place) ? (await schemaOf(place)).pending : [];

/** The key of the place, where it has one already or the environment gives it; none is made. */
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
  const key = options.key ?? (await loadServerKey(settings));
  if (options.key !== undefined && !isUrl(place)) await bringKey(place, options.key, env);
  const cipher = createCipher(key);
  const store = await openPlace(settings, cipher, log, { migrate: options.migrate, onMigrated: options.onMigrated });
  return { store, blobs: fileBlobs(join(dataDir, "blobs")), cipher, key };
}

/** What SVC_* otherwise says of where the data lies must not win over the place that the command was given. */
const onlyKey = (env: PlaceOptions["env"]) => ({ SVC_SERVER_PRIVATE_KEY: env.SVC_SERVER_PRIVATE_KEY });

async function mustExist(dir: string): Promise<void> {
  await access(dir).catch(() => {
    throw new BadSetting(`${dir}: there is no store here`);
  });
}

/** A new directory takes over the key that its data is sealed with, unless the environment holds it. */
async function bringKey(dir: string, key: Uint8Array, env: PlaceOptions["env"]): Promise<void> {
  if (env.SVC_SERVER_PRIVATE_KEY) return;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const text = `${Buffer.from(key).toString("base64")}\n`;
  await writeFile(join(dir, "server.key"), text, { mode: 0o600, flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
