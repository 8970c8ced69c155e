// What the server does when agents ask for more than it can do: it refuses what costs, early, and goes on answering polls.
// A refused poll would come again sooner than an answered one.
import type { EndpointName } from "./wire.ts";

export interface Load {
  /** No more work can begin. What memory answers at once is no work. */
  isFull(): boolean;
  /** Whether a request for this endpoint is to be refused unread. */
  isOver(endpoint: EndpointName): boolean;
  begin(): void;
  end(): void;
  /** Takes room for a body in memory; false when there is none. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
  stop(): void;
}

const TICK_MS = 100;
/** An event loop that is this late again and again has more to do than it can. */
const LATE_MS = 400;
/** How much the latest delay weighs in their mean: one long pause by itself sheds nothing. */
const WEIGHT = 0.2;
/** Bytes of bodies that are being received, inflated or worked on. */
const BODIES_MAX = 384 * 1024 * 1024;

export function createLoad(most: number): Load {
  let working = 0;
  let bodies = 0;
  let lateness = 0;
  let expected = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lateness += (Math.max(0, now - expected) - lateness) * WEIGHT;
    expected = now + TICK_MS;
  }, TICK_MS);
  timer.unref();
  return {
    isFull: () => working >= most,
    isOver: (endpoint) =>
      endpoint !== "distributed/read" &&
      endpoint !== "config" &&
      // A refused block may cost a whole carve: it is refused only where there is no room for it.
      (working >= most || (lateness > LATE_MS && endpoint !== "carve/block")),
    begin() {
      working++;
    },
    end() {
      working--;
    },
    reserve(bytes) {
      if (bodies + bytes > BODIES_MAX) return false;
      bodies += bytes;
      return true;
    },
    release(bytes) {
      bodies -= bytes;
    },
    stop: () => clearInterval(timer),
  };
}
