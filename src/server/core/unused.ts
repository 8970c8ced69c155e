// Deletes rows that nothing uses any more.
import type { ServerStore } from "./tables.ts";

/** Rows per delete. */
const BATCH = 1000;

/**
 * Rows that the previous run found without a host, by table. A row is deleted only if the next run finds it so too,
 * because rows of a new inventory are written before the host's row.
 */
const unused = new WeakMap<ServerStore, Map<string, ReadonlySet<number>>>();

export async function removeUnused(
  store: ServerStore,
  table: string,
  ids: readonly number[],
  remove: (ids: readonly number[]) => Promise<number>,
): Promise<number> {
  const remembered = unused.get(store) ?? new Map<string, ReadonlySet<number>>();
  unused.set(store, remembered);
  const before = remembered.get(table);
  remembered.set(table, new Set(ids));
  const again = ids.filter((id) => before?.has(id));
  let removed = 0;
  for (let at = 0; at < again.length; at += BATCH) removed += await remove(again.slice(at, at + BATCH));
  return removed;
}
