// How many jobs a server runs side by side. Many are due at the same moment, such as after a start.
import { seconds } from "../../platform/core/clock.ts";

const MAX_CONCURRENT = 4;
/** A job that takes longer than this gives up its place, so that long jobs do not delay short ones. */
const LONG_JOB_MS = seconds(10);

export interface Places {
  /** Whether the job waits for a place or is running. */
  has(name: string): boolean;
  /** Waits for a place, in the order of the calls, and does the work. Rejects if the work does. */
  use(name: string, work: () => Promise<void>): Promise<void>;
}

export function createPlaces(count: number = MAX_CONCURRENT, longMs: number = LONG_JOB_MS): Places {
  const names = new Set<string>();
  const waiting: (() => void)[] = [];
  let free = count;

  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }

  return {
    has: (name) => names.has(name),
    async use(name, work) {
      names.add(name);
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isHeld = true;
      const giveUp = () => {
        if (isHeld) release();
        isHeld = false;
      };
      const timer = setTimeout(giveUp, longMs);
      timer.unref();
      try {
        await work();
      } finally {
        clearTimeout(timer);
        giveUp();
        names.delete(name);
      }
    },
  };
}
