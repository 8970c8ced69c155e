// The key that encrypts secrets at rest: set by the operator, or generated once in the data directory.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Settings } from "../settings/settings.ts";
import { BadSetting } from "./tls.ts";

const BYTES = 32;

type Source = Pick<Settings, "server_private_key" | "data_dir">;

const fileIn = (directory: string): string => join(directory, "server.key");

export const loadServerKey = async (settings: Source): Promise<Uint8Array> =>
  (await findServerKey(settings)) ?? (await make(settings.data_dir, fileIn(settings.data_dir)));

/** Removes a newly generated key that has not been used yet. */
export const dropServerKey = (directory: string): Promise<void> => rm(fileIn(directory), { force: true });

/**
 * Stores the key of a backup or of another server in a directory. An existing key is not replaced and must be
 * identical.
 */
export async function bringServerKey(directory: string, key: Uint8Array): Promise<void> {
  await keep(directory, fileIn(directory), key);
  const storedKey = await stored(fileIn(directory));
  if (storedKey && Buffer.from(storedKey).equals(Buffer.from(key))) return;
  throw new BadSetting(
    `${fileIn(directory)} is a different server key: remove it if no data was stored with it, or choose another directory`,
  );
}

const unusedFile = (directory: string): string => `${fileIn(directory)}.unused`;

/** Records that no data is stored with the key of this directory yet, so that a server may start without data. */
export async function markKeyUnused(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(unusedFile(directory), "", { mode: 0o600 });
  await syncDirectory(directory);
}

/** Whether no data was ever stored with the key of this directory. */
export const isKeyUnused = async (directory: string): Promise<boolean> =>
  (await readdir(directory)).includes(basename(unusedFile(directory)));

export const markKeyUsed = (directory: string): Promise<void> => rm(unusedFile(directory), { force: true });

/** The existing key, or null if one would have to be generated. */
export async function findServerKey(settings: Source): Promise<Uint8Array | null> {
  if (settings.server_private_key !== undefined)
    return decoded(settings.server_private_key, "server_private_key (SVC_SERVER_PRIVATE_KEY)");
  return stored(fileIn(settings.data_dir));
}

/**
 * During a rotation, the new key is stored next to the old one; afterwards the old one remains until it is removed.
 */
const nextFile = (directory: string): string => `${fileIn(directory)}.new`;
const oldFile = (directory: string): string => `${fileIn(directory)}.old`;

/** The new key of an interrupted key rotation, or null if there is none. */
export const nextServerKey = (directory: string): Promise<Uint8Array | null> => stored(nextFile(directory));

export const newServerKey = (): Uint8Array => randomBytes(BYTES);

/** Decodes a key that an operator entered. */
export const readServerKey = (text: string, from = "the new key"): Uint8Array => decoded(text, from);

/** Stores the new key before any data is encrypted with it. */
export const keepNextServerKey = (directory: string, key: Uint8Array): Promise<void> =>
  keep(directory, nextFile(directory), key);

/** Replaces the old key with the new one. The old one remains as `server.key.old` until `dropOldServerKey`. */
export async function useNextServerKey(directory: string): Promise<void> {
  const old = await stored(fileIn(directory));
  await rm(oldFile(directory), { force: true });
  if (old) await keep(directory, oldFile(directory), old);
  await rename(nextFile(directory), fileIn(directory));
  await dropDrafts(directory);
  await syncDirectory(directory);
}

/** Removes temporary files of interrupted key rotations. */
async function dropDrafts(directory: string): Promise<void> {
  const drafts = (await readdir(directory)).filter((name) => /^server\.key\.(new|old)\.[\da-f]+\.tmp$/.test(name));
  for (const name of drafts) await rm(join(directory, name), { force: true });
}

export async function dropOldServerKey(directory: string): Promise<void> {
  await rm(oldFile(directory), { force: true });
  await syncDirectory(directory);
}

function decoded(text: string, from: string): Uint8Array {
  const clean = text.trim();
  const key = Buffer.from(clean, "base64");
  if (!/^[\w+/-]+={0,2}$/.test(clean) || key.length !== BYTES)
    throw new BadSetting(`${from} must be ${BYTES} bytes in base64, as made by: openssl rand -base64 ${BYTES}`);
  return key;
}

async function stored(file: string): Promise<Uint8Array | null> {
  try {
    return decoded(await readFile(file, "utf8"), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function make(directory: string, file: string): Promise<Uint8Array> {
  await keep(directory, file, randomBytes(BYTES));
  const key = await stored(file);
  if (!key) throw new BadSetting(`${file} was deleted while it was being created`);
  return key;
}

async function keep(directory: string, file: string, key: Uint8Array): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(`${Buffer.from(key).toString("base64")}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Unlike a rename, a hard link never replaces a key that another server has created meanwhile.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  await syncDirectory(directory);
}

/** The new name must survive a power failure too: data encrypted with a lost key is lost. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
