// Work that comes at the same time shares a transaction. There is no timer: while a batch runs, the next one fills.
import { StoreUnavailable } from "../store/store.ts";

export interface Batcher<T, R> {
  add(item: T): Promise<R>;
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>;
}

export interface BatchOptions<T> {
  /** Items at most in one batch. */
  readonly size: number;
  /** Batches at most at once. */
  readonly parallel: number;
  /** Items of the same key never run at the same time, and run in the order in which they came. */
  readonly key?: (item: T) => unknown;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly key: unknown;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** `run` gives a result for each item. When it throws, each item of the batch is tried alone: one bad item fails by itself. */
export function createBatcher<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  options: BatchOptions<T>,
): Batcher<T, R> {
  let waiting: Waiting<T, R>[] = [];
  let running = 0;
  let planned = false;
  const busy = new Set<unknown>();
  let idle: (() => void)[] = [];

  function take(): Waiting<T, R>[] {
    if (!options.key) return waiting.splice(0, options.size);
    const batch: Waiting<T, R>[] = [];
    const left: Waiting<T, R>[] = [];
    const passed = new Set<unknown>();
    for (const one of waiting) {
      if (batch.length < options.size && !busy.has(one.key) && !passed.has(one.key)) {
        busy.add(one.key);
        batch.push(one);
      } else {
        passed.add(one.key);
        left.push(one);
      }
    }
    waiting = left;
    return batch;
  }

  async function settle(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => void resolve(results[i]!));
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) for (const { reject } of batch) reject(error);
      else for (const one of batch) await settle([one]);
    }
  }

  function start(): void {
    planned = false;
    while (running < options.parallel && waiting.length > 0) {
      const batch = take();
      if (batch.length === 0) return;
      running++;
      void settle(batch).then(() => {
        running--;
        if (options.key) for (const { key } of batch) busy.delete(key);
        start();
        if (running > 0 || waiting.length > 0) return;
        const done = idle;
        idle = [];
        for (const resolve of done) resolve();
      });
    }
  }

  return {
    add: (item) =>
      new Promise<R>((resolve, reject) => {
        waiting.push({ item, key: options.key?.(item), resolve, reject });
        if (planned) return;
        planned = true;
        // What the event loop has in hand now comes into the same batch.
        setImmediate(start);
      }),
    idle: () => (running === 0 && waiting.length === 0 ? Promise.resolve() : new Promise((done) => idle.push(done))),
  };
}
