// Load shedding for agent requests. Under overload expensive requests are refused early, but polls are still answered,
// because an agent retries a refused poll sooner than it would poll again.
import type { EndpointName } from "../../../platform/agent-protocol/wire.ts";

export interface Load {
  /** Whether the limit of concurrent work is reached. Requests answered from memory are not counted. */
  isFull(): boolean;
  /** Whether to refuse a request for this endpoint before reading its body. */
  isOver(endpoint: EndpointName): boolean;
  /** Estimated arrival time of the request read now, considering that the event loop may have been blocked. */
  arrival(): number;
  begin(): void;
  end(): void;
  stop(): void;
}

const TICK_MS = 100;
/** Mean event-loop delay (ms) above which the server counts as overloaded. */
const LATE_MS = 400;
/** Weight of the latest delay in the moving average, so that one long pause does not shed load. */
const WEIGHT = 0.2;

export function createLoad(most: number): Load {
  let working = 0;
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
      // A refused block can abort a whole carve, so blocks are refused only at the concurrency limit.
      (working >= most || (lateness > LATE_MS && endpoint !== "carve/block")),
    // Timers run before sockets in each turn of the event loop, so an overdue timer marks the start of this turn.
    arrival: () => Math.min(performance.now(), expected),
    begin() {
      working++;
    },
    end() {
      working--;
    },
    stop: () => clearInterval(timer),
  };
}
