import { setTimeout as after } from "node:timers/promises";

const LONGEST_MS = 5 * 60_000;

/** Doubles with each failure, at random between half of that and all of it, so that agents do not come back together. */
export function backoff(failures: number, shortestMs: number, random: () => number = Math.random): number {
  const wait = Math.min(shortestMs * 2 ** Math.max(0, failures - 1), Math.max(LONGEST_MS, shortestMs));
  return wait * (0.5 + random() / 2);
}

interface LoopOptions {
  readonly signal: AbortSignal;
  readonly scale: number;
  /** Called with the first failure of a series, and with `null` when the series ends. */
  readonly onChange: (error: unknown) => void;
}

/** Runs `turn` until the signal. It returns the seconds until the next turn; if it throws, the wait grows. */
export async function loop(turn: () => Promise<number>, { signal, scale, onChange }: LoopOptions): Promise<void> {
  const FIRST_WAIT_MS = 5_000;
  let failures = 0;
  while (!signal.aborted) {
    let wait: number;
    try {
      wait = (await turn()) * 1000;
      if (failures > 0) onChange(null);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (failures++ === 0) onChange(error);
      wait = backoff(failures, FIRST_WAIT_MS);
    }
    // Rejects only when the signal ends the wait.
    await after(wait * scale, undefined, { signal }).catch(() => {});
  }
}
