// Long lists are worked on in parts, between which other requests get their turn.
import { setImmediate as breathe } from "node:timers/promises";

/** Rows read or written at once. */
const PART = 1000;

/** Values looked at in memory before others get their turn. */
const LOOKED_AT = 200;

/** Each item, for work that is done in memory alone. */
export async function* inTurns<T>(items: Iterable<T>): AsyncGenerator<T> {
  let count = 0;
  for (const item of items) {
    yield item;
    if (++count % LOOKED_AT === 0) await breathe();
  }
}

export async function* parts<T>(items: readonly T[], size = PART): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await breathe();
    yield items.slice(at, at + size);
  }
}
