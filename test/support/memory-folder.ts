// vitest's global setup: temporary files in memory where there is room for them. Stores wait for the disk at every write,
// which made lowdb's tests a sixth slower.
import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";

const MEMORY = "/dev/shm";
/** Containers often have 64 MiB there. */
const LEAST = 8 * 1024 ** 3;

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= LEAST;
  } catch {
    return false;
  }
}

export default function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return undefined;
  const folder = mkdtempSync(`${MEMORY}/svc-test-`);
  // Open to all, because Postgres runs as another user.
  chmodSync(folder, 0o1777);
  // Before the processes of tests start, which inherit it.
  process.env.TMPDIR = folder;
  return () => {
    delete process.env.TMPDIR;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
