// Long lists are processed in parts, so that other requests are served in between.
import { setImmediate as breathe, setTimeout as rest } from "node:timers/promises";

/** Number of rows read or written at once. */
const PART = 1000;

/** Number of values processed in memory before yielding to other requests. */
const LOOKED_AT = 200;

/** Milliseconds of work between two turns: a request needs several turns, and each of them may wait for this long. */
const TURN = 1;
/** Milliseconds that a turn of other work takes at least if there is any. */
const BUSY = 0.1;
/** Milliseconds of rest for each turn in which there was other work. */
const REST = 4;

/**
 * Lets other requests be served between the steps of long work. If there are any, the work rests longer: its garbage
 * collection would delay them too.
 */
export async function giveWay(): Promise<void> {
  const from = performance.now();
  await breathe();
  if (performance.now() - from > BUSY) await rest(REST);
}

/** For long work in memory: call the returned function between its small steps. It gives way after each turn. */
export function turns(): () => Promise<void> {
  let started = performance.now();
  return async () => {
    if (performance.now() - started < TURN) return;
    await giveWay();
    started = performance.now();
  };
}

/** Work in `steps` takes at most one part of the thread's time in this many. */
const SHARE = 10;
/** Milliseconds of rest after one step at most. */
const REST_MAX = 60;

/**
 * For long work in larger steps, such as transactions: call the returned function after each of them. Requests then
 * seldom meet a step, or the garbage collection of what it has allocated: after a step the work rests in proportion to the
 * time in which the thread was busy since the step before, also with other parts of the work. Whether there are requests
 * cannot be seen in the moment between two steps.
 */
export function steps(): () => Promise<void> {
  let begin = performance.eventLoopUtilization();
  return async () => {
    const { active } = performance.eventLoopUtilization(begin);
    begin = performance.eventLoopUtilization();
    await rest(Math.min(active * (SHARE - 1), REST_MAX));
  };
}

/** Iterates over the items and yields to other requests regularly. For work that is done in memory only. */
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

/** Requests the next item before the current one is processed, so that reading and processing overlap. */
export async function* ahead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      // A failure is reported when the item is taken.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
