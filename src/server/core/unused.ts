// Deletes rows that nothing uses any more.
import type { Services } from "./context.ts";
import { part } from "./running.ts";

/** Rows per delete. */
const BATCH = 1000;

/**
 * Rows that the previous run found without a host, by table. A row is deleted only if the next run finds it so too,
 * because rows of a new inventory are written before the host's row.
 */
const unused = part("unused rows", () => new Map<string, ReadonlySet<number>>());

export async function removeUnused(
  { running }: Pick<Services, "running">,
  table: string,
  ids: readonly number[],
  remove: (ids: readonly number[]) => Promise<number>,
): Promise<number> {
  const remembered = running.of(unused);
  const before = remembered.get(table);
  remembered.set(table, new Set(ids));
  const again = ids.filter((id) => before?.has(id));
  let removed = 0;
  for (let at = 0; at < again.length; at += BATCH) removed += await remove(again.slice(at, at + BATCH));
  return removed;
}
