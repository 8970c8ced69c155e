import { constants } from "node:fs";
import { link, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openFile } from "./open-file.ts";

class StoreLocked extends Error {}

interface Owner {
  readonly pid: number;
  /**
   * Start time of the process in clock ticks since boot (proc(5), field 22); null if the system does not provide it.
   */
  readonly started: string | null;
}

/** How long a process that is ending is waited for: to free its memory may take a moment. */
const ENDING_TRIES = 100;
const ENDING_WAIT_MS = 100;

/** Flag of a process that has begun to exit, and the bit of SIGKILL among pending signals (proc(5), fields 9 and 31). */
const EXITING = 0x4;
const KILLED = 1 << 8;

type Life = "running" | "ending" | "ended";

/** The fields of `/proc/PID/stat` from the third on; null if there is no such process, or no such file system. */
async function statOf(pid: number): Promise<string[] | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field is the command in parentheses; it may itself contain spaces and parentheses.
  return stat === "" ? null : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

const startOf = (stat: readonly string[] | null): string | null => stat?.[19] ?? null;

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function lifeOf({ pid, started }: Owner): Promise<Life> {
  if (!exists(pid)) return "ended";
  const stat = await statOf(pid);
  // The process may have ended in between. The system does not show these fields of every process that exists.
  if (stat === null) return exists(pid) ? "running" : "ended";
  if (started !== null && started !== startOf(stat)) return "ended";
  const [state = "", flags, threads, pending] = [stat[0], stat[6], stat[17], stat[28]];
  // A process that its parent has not waited for. While it has other threads, they may still write.
  if (/[ZX]/.test(state)) return Number(threads) > 1 ? "ending" : "ended";
  return (Number(flags) & EXITING) !== 0 || (Number(pending) & KILLED) !== 0 ? "ending" : "running";
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
 * Creates `<dir>/lock`. Replaces the lock of a process that has ended or whose pid now belongs to another process, and
 * waits for one that is ending, for example because it was killed.
 */
export async function lockDirectory(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, "lock");
  const mine = JSON.stringify({ pid: process.pid, started: startOf(await statOf(process.pid)) });
  const draft = join(dir, `lock.${process.pid}.${Math.random().toString(36).slice(2)}`);
  // Creating a hard link is atomic: no process can read a partly written lock.
  await writeFile(draft, mine, { mode: 0o600, flag: "wx" });
  try {
    let waits = 0;
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
      const life = owner === null ? "ended" : await lifeOf(owner);
      if (life === "ending" && waits++ < ENDING_TRIES) {
        await setTimeout(ENDING_WAIT_MS);
        attempt--;
        continue;
      }
      if (owner !== null && life !== "ended")
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
