import { adminOf } from "../admin.ts";
import type { Store, Tables } from "../store.ts";
import { collectionsOf, RowDigest, tableState } from "./checksum.ts";

export class NotEmpty extends Error {}
export class CopyDiffers extends Error {}

export interface Progress {
  readonly table: string;
  readonly rows: number;
  readonly total: number;
  readonly phase: "copy" | "verify";
}

export interface ProgressOptions {
  readonly onProgress?: (progress: Progress) => void;
}

/** Throws `NotEmpty` if the store contains any row. */
export async function requireEmpty<S extends Tables>(store: Store<S>): Promise<void> {
  for (const collection of collectionsOf(store, store.tables)) {
    const rows = await collection.count();
    if (rows > 0) throw new NotEmpty(`the target is not empty: ${collection.table.name} has ${rows} rows`);
  }
}

/**
 * Copies everything to an empty store with the same tables: rows with their ids and revisions, and the next ids, in
 * one transaction. Afterwards each table of the target is read back and compared with the source.
 */
export async function copyStore<S extends Tables>(
  from: Store<S>,
  to: Store<S>,
  { onProgress }: ProgressOptions = {},
): Promise<{ tables: number; rows: number }> {
  await requireEmpty(to);
  const digests = new Map<string, RowDigest>();
  const next = await adminOf(from).snapshot(async (view) => {
    const ids = await adminOf(from).nextIds();
    await adminOf(to).restore(async (into) => {
      for (const collection of collectionsOf(view, from.tables)) {
        const { table } = collection;
        const digest = new RowDigest(table);
        digests.set(table.name, digest);
        const total = onProgress ? await collection.count() : 0;
        for await (const page of collection.pages()) {
          for (const row of page) digest.add(row);
          await into.rows(table.name, page);
          onProgress?.({ table: table.name, rows: digest.rows, total, phase: "copy" });
        }
        const id = ids[table.name];
        if (id !== undefined) await into.nextId(table.name, id);
      }
    });
    return ids;
  });

  let rows = 0;
  for (const collection of collectionsOf(to, to.tables)) {
    const { name } = collection.table;
    const read = digests.get(name)!;
    const kept = await tableState(collection);
    if (kept.rows !== read.rows)
      throw new CopyDiffers(
        `${name}: ${read.rows} rows were read, the target has ${kept.rows}; empty it and copy again`,
      );
    if (kept.sha256 !== read.hex())
      throw new CopyDiffers(`${name}: the rows of the target differ from those read; empty it and copy again`);
    rows += kept.rows;
    onProgress?.({ table: name, rows: kept.rows, total: kept.rows, phase: "verify" });
  }
  const reached = await adminOf(to).nextIds();
  for (const [name, id] of Object.entries(next))
    if (reached[name] !== id)
      throw new CopyDiffers(`${name}: the next id should be ${id}, the target has ${reached[name]}`);
  return { tables: digests.size, rows };
}
