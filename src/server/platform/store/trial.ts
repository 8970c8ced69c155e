// A store view for dry runs: its reads see its own writes, and everything is rolled back at the end.
import type { Collection, StoreControl, Tables, Tx } from "./store.ts";

interface Trial<S extends Tables> {
  readonly store: Tx<S>;
  /**
   * Rolls back. Returns true if a conflict with another transaction occurred, in which case the same work may be
   * retried.
   */
  end(): Promise<boolean>;
}

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
export function startTrial<S extends Tables>(real: Tx<S>): Trial<S> {
  let opened: Promise<Tx<S>> | null = null;
  let rolledBack: Promise<void> = Promise.resolve();
  let finish = () => {};
  let ended = false;
  let conflicted = false;

  function open(): Promise<Tx<S>> {
    if (ended) throw new Error("the dry run has ended: all of its work must be awaited");
    opened ??= new Promise<Tx<S>>((resolve, reject) => {
      const finished = new Promise<void>((done) => {
        finish = done;
      });
      let begun = false;
      rolledBack = real
        .tx(async (inner) => {
          // After a conflict the engine runs this function again. The whole work must be repeated too, so its caller
          // retries it.
          if (begun) throw new TrialConflict();
          begun = true;
          resolve(inner);
          await finished;
          throw new RolledBack();
        })
        .catch((error: unknown) => {
          conflicted = error instanceof TrialConflict;
          if (!begun) reject(error);
        });
      const timer = setTimeout(() => void end(), TIME_LIMIT);
      timer.unref();
      void rolledBack.then(() => clearTimeout(timer));
    });
    return opened;
  }
  /** The transaction if it is open or being opened, otherwise the real store. */
  const current = async (): Promise<Tx<S>> => (opened === null ? real : await opened);

  async function end(): Promise<boolean> {
    ended = true;
    finish();
    await rolledBack;
    return conflicted;
  }

  function collection(name: keyof S & string): Collection {
    const operation = (target: Tx<S>, method: (typeof READS | typeof WRITES)[number]): Operation =>
      (target[name] as unknown as Record<string, Operation>)[method]!.bind(target[name]);
    const reads = READS.map((method): [string, Operation] => [
      method,
      async (...args) => operation(await current(), method)(...args),
    ]);
    const writes = WRITES.map((method): [string, Operation] => [
      method,
      async (...args) => operation(await open(), method)(...args),
    ]);
    return {
      ...Object.fromEntries([...reads, ...writes]),
      table: real[name].table,
      // Opens the transaction, because the caller may write between two pages.
      async *pages(...args: Parameters<Collection["pages"]>) {
        yield* (ended ? real : await open())[name].pages(...args);
      },
      async *batches(...args: Parameters<Collection["batches"]>) {
        yield* (ended ? real : await open())[name].batches(...args);
      },
    } as unknown as Collection;
  }

  const control: StoreControl<S> = {
    async tx(work, options = {}) {
      if (options.snapshot && opened === null) return real.tx(work, options);
      return (await open()).tx(work, options);
    },
    readTogether: (work) => work(store),
    // Messages are sent after a commit, and a dry run never commits.
    async notify() {},
  };
  const collections = new Map<PropertyKey, Collection>();
  const store = new Proxy(control, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name);
      const cached = collections.get(name);
      if (cached || !isCollection(Reflect.get(real, name))) return cached;
      const created = collection(name as keyof S & string);
      collections.set(name, created);
      return created;
    },
  }) as Tx<S>;
  return { store, end };
}
