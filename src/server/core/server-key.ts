// The key that seals secrets at rest: given by the operator, or made once in the data directory.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "./settings.ts";
import { BadSetting } from "./tls.ts";

const BYTES = 32;

type Source = Pick<Settings, "server_private_key" | "data_dir">;

const fileIn = (directory: string): string => join(directory, "server.key");

export const loadServerKey = async (settings: Source): Promise<Uint8Array> =>
  (await findServerKey(settings)) ?? (await make(settings.data_dir, fileIn(settings.data_dir)));

/** The key that is there; null where one would have to be made. */
export async function findServerKey(settings: Source): Promise<Uint8Array | null> {
  if (settings.server_private_key !== undefined)
    return decoded(settings.server_private_key, "server_private_key (SVC_SERVER_PRIVATE_KEY)");
  return stored(fileIn(settings.data_dir));
}

/** While keys are changed the new one lies beside the old; afterwards, for a moment or by choice, the old one beside the new. */
const nextFile = (directory: string): string => `${fileIn(directory)}.new`;
const oldFile = (directory: string): string => `${fileIn(directory)}.old`;

/** The key that a change of keys, which has not come to its end, goes to; null where none is under way. */
export const nextServerKey = (directory: string): Promise<Uint8Array | null> => stored(nextFile(directory));

export const newServerKey = (): Uint8Array => randomBytes(BYTES);

/** The key as operators write it. */
export const readServerKey = (text: string): Uint8Array => decoded(text, "the new key");

/** Keeps the new key before anything is sealed with it. */
export const keepNextServerKey = (directory: string, key: Uint8Array): Promise<void> =>
  keep(directory, nextFile(directory), key);

/** Puts the new key in place of the old one, which stays as `server.key.old` until `dropOldServerKey`. */
export async function useNextServerKey(directory: string): Promise<void> {
  const old = await stored(fileIn(directory));
  await rm(oldFile(directory), { force: true });
  if (old) await keep(directory, oldFile(directory), old);
  await rename(nextFile(directory), fileIn(directory));
  await dropDrafts(directory);
  await syncDirectory(directory);
}

/** What changes of keys that were killed left half done. */
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
  if (!key) throw new BadSetting(`${file} vanished while it was being made`);
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
    // A link, unlike a rename, never replaces a key that another server has made meanwhile.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  await syncDirectory(directory);
}

/** The file's name, too, must survive a power cut: what is sealed before would be lost with the key. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
