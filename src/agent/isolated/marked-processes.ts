import { stat } from "node:fs/promises";
import { readRegular } from "../reading/regular-file.ts";
import { TimeLimitExceeded } from "../reading/time-limit.ts";
import { namesIn } from "../tables/read.ts";

const ENVIRONMENT_BYTES = 4 * 1024 * 1024;
const READ_MS = 500;

/**
 * The processes with a variable, `NAME=value`, in their environment (Linux). A process may put a file there whose file
 * system never answers; then no more is read of those of its account.
 */
export async function processesWith(variable: string): Promise<number[]> {
  const pids: number[] = [];
  const blocked = new Set<number>();
  for (const pid of (await namesIn("/proc")).filter((name) => /^\d+$/.test(name))) {
    const owner = (await stat(`/proc/${pid}`).catch(() => null))?.uid;
    if (owner === undefined || blocked.has(owner)) continue;
    try {
      const options = { maxBytes: ENVIRONMENT_BYTES, cuts: true, limitMs: READ_MS };
      const variables = (await readRegular(`/proc/${pid}/environ`, options)).toString("utf8").split("\0");
      if (variables.includes(variable)) pids.push(Number(pid));
    } catch (error) {
      if (error instanceof TimeLimitExceeded) blocked.add(owner);
    }
  }
  return pids;
}
