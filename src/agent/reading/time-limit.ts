import { setTimeout as after } from "node:timers/promises";

/** Work that a file system, a program or a query did not finish in time. */
export class TimeLimitExceeded extends Error {}

/** Rejects with `TimeLimitExceeded` when the time is over. The work itself goes on: it may be impossible to stop. */
export async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const limit = after(limitMs, undefined, { signal: done.signal }).then(
    () => {
      throw new TimeLimitExceeded(`${what} took longer than ${limitMs / 1000} seconds`);
    },
    // The work was faster.
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([work, limit]);
  } finally {
    done.abort();
  }
}
