// Decoded sets are kept in memory, because charts read the same ones again and again and most of them never change.
import { part } from "../../platform/core/running.ts";
import type { Collection } from "../../platform/store/store.ts";
import type { RowOf, Table } from "../../platform/store/table.ts";

/** Bytes of decoded sets that a server keeps. A month of hours of 100,000 hosts takes 10 million. */
const MAX_BYTES = 48_000_000;
/** Bytes that a row takes beside its sets. */
const ROW_BYTES = 200;
/** Rows that are read and decoded at once. */
const BATCH_SIZE = 100;

interface DecodedRow {
  readonly revision: number;
  readonly value: unknown;
  readonly bytes: number;
}

/** What rows are decoded to. */
export interface Decoding<T extends Table, V> {
  readonly rows: Collection<T>;
  readonly column: keyof RowOf<T> & string;
  readonly decode: (stored: unknown) => V;
  readonly bytesOf: (value: V) => number;
}

export class DecodedSets {
  /** By table and id; the one that was used least recently is first. */
  readonly #rows = new Map<string, DecodedRow>();
  #bytes = 0;

  /** The decoded column of each row, by id. Rows that no longer exist are left out. */
  async read<T extends Table, V>(
    { rows, column, decode, bytesOf }: Decoding<T, V>,
    stored: readonly { readonly id: number; readonly revision: number }[],
  ): Promise<Map<number, V>> {
    const values = new Map<number, V>();
    const missing: number[] = [];
    for (const { id, revision } of stored) {
      const key = `${rows.table.name} ${id}`;
      const existing = this.#rows.get(key);
      if (existing?.revision !== revision) missing.push(id);
      else {
        this.#rows.delete(key);
        this.#rows.set(key, existing);
        values.set(id, existing.value as V);
      }
    }
    for (let at = 0; at < missing.length; at += BATCH_SIZE)
      for (const row of await rows.getMany(missing.slice(at, at + BATCH_SIZE))) {
        const { id, revision } = row as unknown as { id: number; revision: number };
        const value = decode(row[column]);
        values.set(id, value);
        this.#keep(`${rows.table.name} ${id}`, { revision, value, bytes: ROW_BYTES + bytesOf(value) });
      }
    return values;
  }

  #keep(key: string, decoded: DecodedRow): void {
    this.#bytes += decoded.bytes - (this.#rows.get(key)?.bytes ?? 0);
    this.#rows.delete(key);
    this.#rows.set(key, decoded);
    for (const [oldest, { bytes }] of this.#rows) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#rows.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}

export const decodedSets = part("decoded sets of hosts", () => new DecodedSets());
