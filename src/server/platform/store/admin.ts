// The additional engine functions that `svc db copy|backup|restore|check` use. Each engine attaches them under
// `admin`.
import type { Collections, Store, Tables } from "./store.ts";

export const admin: unique symbol = Symbol("store admin");

export interface Restorer {
  /**
   * Stores rows unchanged: every declared column and `revision`, as `list` returned them (secrets decrypted).
   * References are checked when the restore ends, not per row, because a row may precede the row that it refers to.
   */
  rows(table: string, rows: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
  /**
   * Makes `id` the smallest id that the table may assign from now on. Ignored for tables that share another table's
   * ids.
   */
  nextId(table: string, id: number): Promise<void>;
}

export interface StoreAdmin<S extends Tables = Tables> {
  /** The next id of each table that assigns its own ids. May be called inside `snapshot`. */
  nextIds(): Promise<Record<string, number>>;
  /** Runs `work` against one consistent snapshot, even while other servers write to the same database. */
  snapshot<R>(work: (view: Collections<S>) => Promise<R>): Promise<R>;
  /**
   * Fills an empty store in one transaction: if `work` or the final check of references and unique sets fails,
   * nothing is stored. Throws `UniqueViolation` or `ReferenceViolation`. The caller must have checked that the store
   * is empty.
   */
  restore(work: (into: Restorer) => Promise<void>): Promise<void>;
}

export type WithAdmin<S extends Tables> = Store<S> & { readonly [admin]: StoreAdmin<S> };

export function adminOf<S extends Tables>(store: Store<S>): StoreAdmin<S> {
  if (!(admin in store)) throw new Error(`the ${store.engine} store has no admin interface`);
  return (store as WithAdmin<S>)[admin];
}
