// Groups concurrent work into shared transactions. There is no timer: while one batch runs, the next one fills. A second
// one starts beside it only if it is full or the first is slow, because many small batches cost more than a few large.

import { StoreUnavailable } from "../../store/store.ts";
import type { QueueFigures } from "../logging/metrics.ts";
import { MAX_AGE_MS, Overdue } from "./age.ts";

interface Batcher<T, R> {
  /** `since`: when waiting started, by `performance.now()`; default: now. Rejects with `Overdue` after MAX_AGE_MS. */
  add(item: T, since?: number): Promise<R>;
  /** Resolves when nothing is running or waiting. */
  idle(): Promise<void>;
}

interface BatchOptions<T> {
  /** Maximum number of items in one batch. */
  readonly size: number;
  /** Maximum number of concurrent batches. */
  readonly parallel: number;
  /** Items with the same key never run concurrently; they run in order of arrival. */
  readonly key?: (item: T) => unknown;
  readonly figures?: QueueFigures;
  /** Replaces the clock in tests. */
  readonly now?: () => number;
}

/** A batch that runs for longer (in ms) does not hold up others, even if they are not full. */
const SLOW_MS = 1_000;

interface Waiting<T, R> {
  readonly item: T;
  readonly key: unknown;
  readonly since: number;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** One in so many items of a batch is one of the oldest. */
const OLDEST = 4;

/**
 * Serves the newest items first. Under overload the oldest requests have already been given up by their agents, so that
 * serving in order of arrival would serve none in time. A part of each batch are the oldest items: otherwise, while a few
 * always wait, the oldest of them would wait until they are refused, although there is no overload.
 *
 * `run` returns one result per item, in order. If it throws, each item of the batch is retried alone, so that one bad
 * item fails by itself.
 */
export function createBatcher<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  options: BatchOptions<T>,
): Batcher<T, R> {
  const { figures, now = () => performance.now() } = options;
  let waiting: Waiting<T, R>[] = [];
  let running = 0;
  let lastStart = 0;
  let planned = false;
  const busy = new Set<unknown>();
  let idle: (() => void)[] = [];

  function take(): Waiting<T, R>[] {
    const { size } = options;
    const oldest = Math.floor(size / OLDEST);
    if (!options.key) {
      if (waiting.length <= size) return waiting.splice(0);
      return [...waiting.splice(0, oldest), ...waiting.splice(oldest - size)];
    }
    // The oldest item of each key comes first.
    const keys = new Set<unknown>();
    for (let i = 0; i < waiting.length && keys.size < oldest; i++)
      if (!busy.has(waiting[i]!.key)) keys.add(waiting[i]!.key);
    for (let i = waiting.length - 1; i >= 0 && keys.size < size; i--)
      if (!busy.has(waiting[i]!.key)) keys.add(waiting[i]!.key);
    const batch: Waiting<T, R>[] = [];
    const left: Waiting<T, R>[] = [];
    for (const entry of waiting) {
      if (keys.delete(entry.key)) {
        busy.add(entry.key);
        batch.push(entry);
      } else left.push(entry);
    }
    waiting = left;
    return batch;
  }

  /** Rejects items that waited too long: their agents have timed out and will send them again. */
  function refuseOverdue(): void {
    const oldest = now() - MAX_AGE_MS;
    // The queue is only nearly in order of arrival, because a request may have waited before it was added.
    if (!waiting.some(({ since }) => since < oldest)) return;
    const overdue = waiting.filter(({ since }) => since < oldest);
    waiting = waiting.filter(({ since }) => since >= oldest);
    for (const { reject } of overdue) reject(new Overdue());
  }

  async function settle(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => void resolve(results[i]!));
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) for (const { reject } of batch) reject(error);
      else for (const entry of batch) await settle([entry]);
    }
  }

  function mayStart(): boolean {
    if (waiting.length === 0 || running >= options.parallel) return false;
    return running === 0 || waiting.length >= options.size || now() - lastStart > SLOW_MS;
  }

  /** Items added in the current turn of the event loop join the same batch. */
  function plan(): void {
    if (planned) return;
    planned = true;
    setImmediate(start);
  }

  function start(): void {
    planned = false;
    refuseOverdue();
    while (mayStart()) {
      const batch = take();
      if (batch.length === 0) return;
      figures?.waited((now() - Math.min(...batch.map(({ since }) => since))) / 1000);
      running++;
      lastStart = now();
      void settle(batch).then(() => {
        running--;
        if (options.key) for (const { key } of batch) busy.delete(key);
        figures?.waiting(waiting.length);
        if (waiting.length > 0) plan();
        if (running > 0 || waiting.length > 0) return;
        const done = idle;
        idle = [];
        for (const resolve of done) resolve();
      });
    }
  }

  return {
    add: (item, since = now()) =>
      new Promise<R>((resolve, reject) => {
        waiting.push({ item, key: options.key?.(item), since, resolve, reject });
        figures?.waiting(waiting.length);
        plan();
      }),
    idle: () => (running === 0 && waiting.length === 0 ? Promise.resolve() : new Promise((done) => idle.push(done))),
  };
}
