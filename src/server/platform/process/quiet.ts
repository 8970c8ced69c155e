import { setImmediate as nextTurn } from "node:timers/promises";
import { wait } from "../core/concurrency/wait.ts";

/** The connections that a listener has accepted. */
export interface Arrivals {
  readonly accepted: number;
  /** When the last one was accepted (`performance.now()`). */
  readonly lastAccepted: number;
}

/** No client opens a connection for this long: longer than one needs to open the next after an answer. */
const QUIET_MS = 200;
/** With an unending flow of connections, a shorter moment has to do; the wait is over after this time. */
export const QUIET_MAX_MS = 1_000;
/** Number of turns of the event loop in which one without a new connection is looked for. */
const TURNS_MAX = 1_000;

/**
 * Resolves at a moment at which a listener can be closed: no client is about to connect, and no connection waits in
 * the kernel, which would reset it.
 */
export async function quiet(arrivals: Arrivals, hurry?: AbortSignal): Promise<void> {
  const until = performance.now() + QUIET_MAX_MS;
  for (;;) {
    const now = performance.now();
    const left = arrivals.lastAccepted + QUIET_MS - now;
    if (left <= 0 || now >= until || hurry?.aborted) break;
    await wait(Math.min(left, until - now), hurry);
  }
  await nextTurn();
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const before = arrivals.accepted;
    await nextTurn();
    if (arrivals.accepted === before) return;
  }
}
