import type { Collections, Tables } from "./store.ts";

/**
 * Returns a function that makes the collections of a session or transaction. Each is created on first use: every
 * request has transactions, and most touch only a few of the tables.
 */
export function lazyCollections<S extends Tables, On extends object>(
  tables: S,
  make: (key: keyof S & string, on: On) => unknown,
): (on: On) => Collections<S> {
  const sessions = new WeakMap<object, On>();
  const shared = {};
  for (const key of Object.keys(tables))
    Object.defineProperty(shared, key, {
      get(this: object) {
        const value = make(key, sessions.get(this)!);
        Object.defineProperty(this, key, { value, enumerable: true, configurable: true });
        return value;
      },
    });
  return (on) => {
    const made = Object.create(shared) as Collections<S>;
    sessions.set(made, on);
    return made;
  };
}
