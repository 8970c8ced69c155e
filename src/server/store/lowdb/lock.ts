import { link, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

export class StoreLocked extends Error {}

interface Owner {
  readonly pid: number;
  /** When the process started, in clock ticks since boot (proc(5), field 22); null where the system does not tell. */
  readonly started: string | null;
}

async function startOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field is the command in brackets and may itself hold spaces and brackets.
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

/** Takes `<dir>/lock`. The lock of a process that is gone, or whose pid another process has now, is taken over. */
export async function lockDirectory(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, "lock");
  const mine = JSON.stringify({ pid: process.pid, started: await startOf(process.pid) });
  const draft = join(dir, `lock.${process.pid}.${Math.random().toString(36).slice(2)}`);
  // A hard link appears whole or not at all: nobody reads a lock that is half written.
  await writeFile(draft, mine, { mode: 0o600 });
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
          if ((await readFile(path, "utf8").catch(() => "")) === mine) await unlink(path);
        };
      }
      const held = await readFile(path, "utf8").catch(() => null);
      if (held === null) continue;
      const owner = parseOwner(held);
      if (owner && (await isAlive(owner)))
        throw new StoreLocked(`the data directory ${dir} is in use by process ${owner.pid}; one process per directory`);
      await removeStale(path, held, `${draft}.stale`);
    }
    throw new StoreLocked(`the data directory ${dir} is being locked by other processes`);
  } finally {
    await unlink(draft).catch(() => {});
  }
}

/** Two processes may find the same stale lock: whoever moves a fresh one away by mistake puts it back. */
async function removeStale(path: string, held: string, aside: string): Promise<void> {
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  if ((await readFile(aside, "utf8")) !== held) await link(aside, path).catch(() => {});
  await unlink(aside);
}
