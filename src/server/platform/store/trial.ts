// A store view for dry runs: its reads see its own writes, and everything is rolled back at the end.
import type { Collection, StoreControl, Tables, Tx } from "./store.ts";

class RolledBack extends Error {}
class TrialConflict extends Error {}

/**
 * The transaction is rolled back after this many milliseconds in any case: the embedded store runs one transaction at
 * a time.
 */
const TIME_LIMIT = 60_000;

const READS = ["get", "getMany", "sides", "first", "list", "pick", "positionOf", "count", "groupCount", "max"] as const;
const WRITES = ["insert", "insertMany", "upsert", "update", "updateEach", "delete"] as const;

const isCollection = (value: unknown): boolean => typeof value === "object" && value !== null && "table" in value;

type Operation = (...args: unknown[]) => Promise<unknown>;

/**
 * Uses one transaction from the first write to the end, so that the work sees what its own transactions have
 * "committed". Reads before the first write go to the real store: until then the work may wait for the network, which
 * is not allowed in a transaction.
 */
export class Trial<S extends Tables> {
  readonly store: Tx<S>;
  readonly #real: Tx<S>;
  #opened: Promise<Tx<S>> | null = null;
  #rolledBack: Promise<void> = Promise.resolve();
  #finish = () => {};
  #hasEnded = false;
  #isConflicted = false;

  constructor(real: Tx<S>) {
    this.#real = real;
    this.store = this.#view();
  }

  /**
   * Rolls back. Returns true if a conflict with another transaction occurred, in which case the same work may be
   * retried.
   */
  async end(): Promise<boolean> {
    this.#hasEnded = true;
    this.#finish();
    await this.#rolledBack;
    return this.#isConflicted;
  }

  #open(): Promise<Tx<S>> {
    if (this.#hasEnded) throw new Error("the dry run has ended: all of its work must be awaited");
    this.#opened ??= this.#begin();
    return this.#opened;
  }

  #begin(): Promise<Tx<S>> {
    return new Promise<Tx<S>>((resolve, reject) => {
      const finished = new Promise<void>((done) => {
        this.#finish = done;
      });
      let hasBegun = false;
      this.#rolledBack = this.#real
        .tx(async (inner) => {
          // After a conflict the engine runs this function again. The whole work must be repeated too, so its caller
          // retries it.
          if (hasBegun) throw new TrialConflict();
          hasBegun = true;
          resolve(inner);
          await finished;
          throw new RolledBack();
        })
        .catch((error: unknown) => {
          this.#isConflicted = error instanceof TrialConflict;
          if (!hasBegun) reject(error);
        });
      const timer = setTimeout(() => void this.end(), TIME_LIMIT);
      timer.unref();
      void this.#rolledBack.then(() => clearTimeout(timer));
    });
  }

  /** The transaction if it is open or being opened, otherwise the real store. */
  async #current(): Promise<Tx<S>> {
    return this.#opened === null ? this.#real : await this.#opened;
  }

  #view(): Tx<S> {
    const real = this.#real;
    const control: StoreControl<S> = {
      tx: async (work, options = {}) => {
        if (options.snapshot && this.#opened === null) return real.tx(work, options);
        return (await this.#open()).tx(work, options);
      },
      readTogether: (work) => work(this.store),
      // Messages are sent after a commit, and a dry run never commits.
      async notify() {},
    };
    const collections = new Map<PropertyKey, Collection>();
    return new Proxy(control, {
      get: (target, name) => {
        if (name in target) return Reflect.get(target, name);
        const cached = collections.get(name);
        if (cached || !isCollection(Reflect.get(real, name))) return cached;
        const created = this.#collection(name as keyof S & string);
        collections.set(name, created);
        return created;
      },
    }) as Tx<S>;
  }

  #collection(name: keyof S & string): Collection {
    const operation = (target: Tx<S>, method: (typeof READS | typeof WRITES)[number]): Operation =>
      (target[name] as unknown as Record<string, Operation>)[method]!.bind(target[name]);
    const reads = READS.map((method): [string, Operation] => [
      method,
      async (...args) => operation(await this.#current(), method)(...args),
    ]);
    const writes = WRITES.map((method): [string, Operation] => [
      method,
      async (...args) => operation(await this.#open(), method)(...args),
    ]);
    // Opens the transaction, because the caller may write between two pages.
    const paged = async () => (this.#hasEnded ? this.#real : await this.#open())[name];
    return {
      ...Object.fromEntries([...reads, ...writes]),
      table: this.#real[name].table,
      async *pages(...args: Parameters<Collection["pages"]>) {
        yield* (await paged()).pages(...args);
      },
      async *batches(...args: Parameters<Collection["batches"]>) {
        yield* (await paged()).batches(...args);
      },
    } as unknown as Collection;
  }
}
