// What `svc db copy|backup|restore|check` need from an engine beyond the contract. Each engine attaches its own under `admin`.
import type { Collections, Store, Tables } from "./store.ts";

export const admin: unique symbol = Symbol("store admin");

export interface Restorer {
  /**
   * Keeps rows exactly as given: every declared column and `revision`, as `list` gave them (secrets in clear). References are
   * not checked row by row (a row may come before the one it refers to), but all of them when the restore ends.
   */
  rows(table: string, rows: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
  /** The table gives no id below this one from now on. Ignored for tables that share another table's ids. */
  nextId(table: string, id: number): Promise<void>;
}

export interface StoreAdmin<S extends Tables = Tables> {
  /** The id that each table with ids of its own would give next. May be asked for inside `snapshot`. */
  nextIds(): Promise<Record<string, number>>;
  /** Reads that all see one moment, where the engine is shared with other writers. */
  snapshot<R>(work: (view: Collections<S>) => Promise<R>): Promise<R>;
  /**
   * Fills an empty store, all or nothing: when `work` or the final check of references and unique sets fails, nothing is kept.
   * Throws `UniqueViolation` or `ReferenceViolation`; the caller has made sure that the store is empty.
   */
  restore(work: (into: Restorer) => Promise<void>): Promise<void>;
}

export type WithAdmin<S extends Tables> = Store<S> & { readonly [admin]: StoreAdmin<S> };

export function adminOf<S extends Tables>(store: Store<S>): StoreAdmin<S> {
  if (!(admin in store)) throw new Error(`the ${store.engine} store has no admin interface`);
  return (store as WithAdmin<S>)[admin];
}
