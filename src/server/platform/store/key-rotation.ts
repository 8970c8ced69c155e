// Types and helpers that both engines use to replace the key that encrypts secrets.
import type { Cipher } from "./cipher.ts";
import type { Table } from "./table.ts";

export interface Rotation {
  readonly from: Cipher;
  readonly to: Cipher;
  /** Called between steps. If it throws, the rotation stops at that point. */
  onProgress?(progress: { readonly table: string; readonly sealed: number }): void;
}

export interface RotationResult {
  /** Number of values that this run encrypted with the new key. */
  readonly sealed: number;
}

/** Instruction that is shown when an earlier key rotation was interrupted. */
export const FINISH = "finish it with: svc db rotate-key";

/** Another process is still using the store. */
export class StoreInUse extends Error {}

export const secretColumns = (table: Table): string[] =>
  Object.keys(table.columns).filter((name) => table.columns[name]!.spec.secret);
