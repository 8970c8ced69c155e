// Files that only their owner can read. They are replaced atomically, so that a crash leaves the old or the new
// content.
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Low } from "lowdb";
import { failed } from "../errors.ts";

export async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Imported only when writing, because most commands only read.
  const { randomBytes } = await import("node:crypto");
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** A lowdb database in a private JSON file. */
export async function openPrivate<T>(path: string, empty: T): Promise<Low<T>> {
  const { Low } = await import("lowdb");
  const db = new Low<T>(
    {
      async read() {
        const text = await readText(path);
        if (text === null) return null;
        try {
          return JSON.parse(text) as T;
        } catch {
          throw failed(
            `${path} is damaged: it is not JSON`,
            "Repair or delete the file, then sign in again with `svc login`.",
          );
        }
      },
      write: (data) => writePrivate(path, `${JSON.stringify(data, null, 2)}\n`),
    },
    empty,
  );
  await db.read();
  return db;
}

/** Whether other users than the owner can access the file. */
export async function isExposed(path: string): Promise<boolean> {
  if (process.platform === "win32") return false;
  try {
    return ((await stat(path)).mode & 0o077) !== 0;
  } catch {
    return false;
  }
}
