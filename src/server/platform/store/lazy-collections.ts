import type { Collections, Tables } from "./store.ts";

/**
 * Returns a function that makes the collections of a session or transaction. Each is created on first use: every
 * request has transactions, and most touch only a few of the tables.
 */
export function lazyCollections<S extends Tables, On extends object>(
  tables: S,
  make: (key: keyof S & string, on: On) => unknown,
): (on: On) => Collections<S> {
  // An object that is derived from these collections (`Object.create`) has the same session.
  const session = Symbol("session");
  const shared = {};
  for (const key of Object.keys(tables))
    Object.defineProperty(shared, key, {
      get(this: { [session]: On }) {
        const value = make(key, this[session]);
        Object.defineProperty(this, key, { value, enumerable: true, configurable: true });
        return value;
      },
    });
  return (on) => Object.create(shared, { [session]: { value: on } }) as Collections<S>;
}
