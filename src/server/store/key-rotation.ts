// What both engines do alike when the key that seals secrets is changed.
import type { Cipher } from "../core/cipher.ts";
import type { Table } from "./table.ts";

export interface Rotation {
  readonly from: Cipher;
  readonly to: Cipher;
  /** Called between steps; what it throws ends the work there. */
  onProgress?(told: { readonly table: string; readonly sealed: number }): void;
}

export interface Rotated {
  /** Values that this run has sealed anew. */
  readonly sealed: number;
}

/** How to go on after a change of keys that did not come to its end. */
export const FINISH = "finish it with: svc db rotate-key";

/** Somebody still works with the store. */
export class StoreInUse extends Error {}

export const secretColumns = (table: Table): string[] =>
  Object.keys(table.columns).filter((name) => table.columns[name]!.spec.secret);
