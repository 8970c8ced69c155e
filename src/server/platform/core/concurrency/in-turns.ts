import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Starts each read in a turn of the event loop of its own. The embedded store answers within the turn, so other requests
 * are served in between; Postgres works on the reads at the same time.
 */
export const inTurns = <T>(reads: readonly (() => Promise<T>)[]): Promise<T[]> =>
  Promise.all(
    reads.map(async (read, place) => {
      for (let turn = 0; turn <= place; turn++) await nextTurn();
      return read();
    }),
  );
