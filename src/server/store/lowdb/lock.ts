import { constants } from "node:fs";
import { link, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openFile } from "./files.ts";

export class StoreLocked extends Error {}

interface Owner {
  readonly pid: number;
  /**
   * Start time of the process in clock ticks since boot (proc(5), field 22); null if the system does not provide it.
   */
  readonly started: string | null;
}

async function startOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field is the command in parentheses; it may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return stat === "" ? null : (fields[19] ?? null);
}

async function isAlive({ pid, started }: Owner): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = await startOf(pid);
  return started === null || now === null || started === now;
}

function parseOwner(text: string): Owner | null {
  try {
    const owner = JSON.parse(text) as Owner;
    return Number.isInteger(owner.pid) && owner.pid > 0 ? owner : null;
  } catch {
    return null;
  }
}

/** Returns the content of a lock file, or null if there is none. */
async function readLock(path: string): Promise<string | null> {
  const handle = await openFile(path, constants.O_RDONLY).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return handle === null ? null : handle.readFile("utf8").finally(() => handle.close());
}

/**
 * Creates `<dir>/lock`. Replaces the lock of a process that has ended or whose pid now belongs to another process.
 */
export async function lockDirectory(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, "lock");
  const mine = JSON.stringify({ pid: process.pid, started: await startOf(process.pid) });
  const draft = join(dir, `lock.${process.pid}.${Math.random().toString(36).slice(2)}`);
  // Creating a hard link is atomic: no process can read a partly written lock.
  await writeFile(draft, mine, { mode: 0o600, flag: "wx" });
  try {
    for (let attempt = 0; attempt < 10; attempt++) {
      const taken = await link(draft, path).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "EEXIST") return false;
          throw error;
        },
      );
      if (taken) {
        return async () => {
          if ((await readLock(path)) === mine) await unlink(path);
        };
      }
      const content = await readLock(path);
      if (content === null) continue;
      const owner = parseOwner(content);
      if (owner && (await isAlive(owner)))
        throw new StoreLocked(`the data directory ${dir} is in use by process ${owner.pid}; one process per directory`);
      await removeStale(path, content, `${draft}.stale`);
    }
    throw new StoreLocked(`the data directory ${dir} is being locked by other processes`);
  } finally {
    await unlink(draft).catch(() => {});
  }
}

/** Two processes may find the same stale lock: one that moves a new lock away by mistake puts it back. */
async function removeStale(path: string, content: string, aside: string): Promise<void> {
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  if ((await readLock(aside)) !== content) await link(aside, path).catch(() => {});
  await unlink(aside);
}
