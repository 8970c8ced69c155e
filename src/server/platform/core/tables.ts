// The store with the tables of all features. Each feature adds its tables to this type itself, so that features read
// each other's rows without importing each other; `src/server/tables.ts` has the tables as a value.
import type { Store, Tx } from "../store/store.ts";

// biome-ignore lint/suspicious/noEmptyInterface: every feature's tables.ts adds to it
export interface Tables {}

/** An object type: an interface would not be accepted as a record of tables. */
export type AllTables = { [K in keyof Tables]: Tables[K] };

export type ServerStore = Store<AllTables>;
/** The store as services use it: directly, or inside a transaction. */
export type ServerTx = Tx<AllTables>;
