// Groups concurrent work into shared transactions. There is no timer: while one batch runs, the next one fills. A second
// one starts beside it only if it is full or the first is slow, because many small batches cost more than a few large.

import { StoreUnavailable } from "../../store/store.ts";
import type { QueueFigures } from "../logging/metrics.ts";
import { MAX_AGE_MS, Overdue } from "./age.ts";

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
const OLDEST_SHARE = 4;

/**
 * Serves the newest items first. Under overload the oldest requests have already been given up by their agents, so that
 * serving in order of arrival would serve none in time. A part of each batch are the oldest items: otherwise, while a few
 * always wait, the oldest of them would wait until they are refused, although there is no overload.
 *
 * `run` returns one result per item, in order. If it throws, each item of the batch is retried alone, so that one bad
 * item fails by itself.
 */
export class Batcher<T, R> {
  readonly #run: (items: readonly T[]) => Promise<readonly R[]>;
  readonly #options: BatchOptions<T>;
  readonly #now: () => number;
  #waiting: Waiting<T, R>[] = [];
  #running = 0;
  #lastStart = 0;
  #isPlanned = false;
  readonly #busyKeys = new Set<unknown>();
  #idle: (() => void)[] = [];

  constructor(run: (items: readonly T[]) => Promise<readonly R[]>, options: BatchOptions<T>) {
    this.#run = run;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** `since`: when waiting started, by `performance.now()`; default: now. Rejects with `Overdue` after MAX_AGE_MS. */
  add(item: T, since = this.#now()): Promise<R> {
    const { key, figures } = this.#options;
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ item, key: key?.(item), since, resolve, reject });
      figures?.waiting(this.#waiting.length);
      this.#planStart();
    });
  }

  /** Resolves when nothing is running or waiting. */
  idle(): Promise<void> {
    if (this.#running === 0 && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Items added in the current turn of the event loop join the same batch. */
  #planStart(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#start());
  }

  #start(): void {
    this.#isPlanned = false;
    this.#refuseOverdue();
    const { figures } = this.#options;
    while (this.#mayStart()) {
      const batch = this.#nextBatch();
      if (batch.length === 0) return;
      figures?.waited((this.#now() - Math.min(...batch.map(({ since }) => since))) / 1000);
      this.#running++;
      this.#lastStart = this.#now();
      void this.#runBatch(batch).then(() => this.#end(batch));
    }
  }

  #mayStart(): boolean {
    const { size, parallel } = this.#options;
    if (this.#waiting.length === 0 || this.#running >= parallel) return false;
    return this.#running === 0 || this.#waiting.length >= size || this.#now() - this.#lastStart > SLOW_MS;
  }

  /** Rejects items that waited too long: their agents have timed out and will send them again. */
  #refuseOverdue(): void {
    const oldest = this.#now() - MAX_AGE_MS;
    // The queue is only nearly in order of arrival, because a request may have waited before it was added.
    if (!this.#waiting.some(({ since }) => since < oldest)) return;
    const overdue = this.#waiting.filter(({ since }) => since < oldest);
    this.#waiting = this.#waiting.filter(({ since }) => since >= oldest);
    for (const { reject } of overdue) reject(new Overdue());
  }

  /** Removes the items of the next batch from those that wait. */
  #nextBatch(): Waiting<T, R>[] {
    const { size, key } = this.#options;
    const waiting = this.#waiting;
    const oldest = Math.floor(size / OLDEST_SHARE);
    if (key) return this.#nextOfKeys(size, oldest);
    if (waiting.length <= size) return waiting.splice(0);
    return [...waiting.splice(0, oldest), ...waiting.splice(oldest - size)];
  }

  #nextOfKeys(size: number, oldest: number): Waiting<T, R>[] {
    const waiting = this.#waiting;
    const busy = this.#busyKeys;
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
    this.#waiting = left;
    return batch;
  }

  async #runBatch(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => void resolve(results[i]!));
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) for (const { reject } of batch) reject(error);
      else for (const entry of batch) await this.#runBatch([entry]);
    }
  }

  #end(batch: readonly Waiting<T, R>[]): void {
    const { key, figures } = this.#options;
    this.#running--;
    if (key) for (const entry of batch) this.#busyKeys.delete(entry.key);
    figures?.waiting(this.#waiting.length);
    if (this.#waiting.length > 0) this.#planStart();
    if (this.#running > 0 || this.#waiting.length > 0) return;
    const done = this.#idle;
    this.#idle = [];
    for (const resolve of done) resolve();
  }
}
