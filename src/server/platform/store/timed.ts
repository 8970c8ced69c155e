import type { Histogram } from "prom-client";
import type { Collections, Store, Tables, Tx, TxOptions } from "./store.ts";

type Seconds = Histogram<"table" | "operation">;
type Method = (...args: unknown[]) => unknown;

/** Wraps a store and records the duration of each operation and transaction. */
export function timed<S extends Tables>(store: Store<S>, seconds: Seconds): Store<S> {
  return watch<S, Store<S>>(store, new Set(Object.keys(store.tables)), seconds);
}

function watch<S extends Tables, T extends Tx<S>>(target: T, tables: ReadonlySet<PropertyKey>, seconds: Seconds): T {
  const tx = async <R>(work: (inner: Tx<S>) => Promise<R>, options?: TxOptions): Promise<R> => {
    const end = seconds.startTimer({ table: "", operation: "tx" });
    try {
      return await target.tx((inner) => work(watch<S, Tx<S>>(inner, tables, seconds)), options);
    } finally {
      end();
    }
  };
  const readTogether = <R>(work: (inner: Collections<S>) => Promise<R>): Promise<R> =>
    target.readTogether((inner) => work(watchCollections<S, Collections<S>>(inner, tables, seconds)));
  return watchCollections<S, T>(target, tables, seconds, { tx, readTogether });
}

/** `overrides`: what replaces members of the target. */
function watchCollections<S extends Tables, T extends Collections<S>>(
  target: T,
  tables: ReadonlySet<PropertyKey>,
  seconds: Seconds,
  overrides: Readonly<Record<PropertyKey, unknown>> = {},
): T {
  const collections = new Map<PropertyKey, object>();
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(overrides, name)) return overrides[name];
      const cached = collections.get(name);
      if (cached) return cached;
      const value: unknown = Reflect.get(target, name, target);
      if (tables.has(name)) {
        const collection = watchCollection(value as object, String(name), seconds);
        collections.set(name, collection);
        return collection;
      }
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function watchCollection(collection: object, table: string, seconds: Seconds): object {
  const methods = new Map<PropertyKey, Method>();
  return new Proxy(collection, {
    get(_, name) {
      const cached = methods.get(name);
      if (cached) return cached;
      const value: unknown = Reflect.get(collection, name, collection);
      if (typeof value !== "function") return value;
      const call: Method = value.bind(collection);
      // Not timed: pages are read at the caller's pace, so their duration does not describe the store.
      const method =
        name === "pages" || name === "batches" ? call : observed(call, seconds, { table, operation: String(name) });
      methods.set(name, method);
      return method;
    },
  });
}

const observed =
  (call: Method, seconds: Seconds, labels: { table: string; operation: string }): Method =>
  async (...args) => {
    const started = performance.now();
    try {
      return await call(...args);
    } finally {
      seconds.observe(labels, (performance.now() - started) / 1000);
    }
  };
