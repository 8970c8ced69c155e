import { isoAt, minutes } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { and, eq, oneOf } from "../store/query.ts";

/** A row is deleted after it has been found unused for this long. */
const UNUSED_FOR = minutes(30);
/** Rows per statement. */
const BATCH_SIZE = 1000;

/**
 * Deletes those of the given rows that were found unused some time ago, and remembers the others. `ids` are all rows of
 * the table that are unused now. Returns how many rows `remove` has deleted.
 */
export async function removeUnused(
  { store, clock }: Pick<Services, "store" | "clock">,
  table: string,
  ids: readonly number[],
  remove: (ids: readonly number[]) => Promise<number>,
): Promise<number> {
  const ofTable = eq("table_name", table);
  const before = new Map(
    (await store.unusedRows.pick(["row_id", "since"], { where: ofTable })).map(({ row_id, since }) => [row_id, since]),
  );
  const forget = (ids: readonly number[]) => store.unusedRows.delete(and(ofTable, oneOf("row_id", ids)));

  const unused = new Set(ids);
  const usedAgain = [...before.keys()].filter((id) => !unused.has(id));
  for (const batch of batches(usedAgain)) await forget(batch);

  const since = clock.iso();
  for (const batch of batches(ids.filter((id) => !before.has(id))))
    await store.unusedRows.upsert(
      batch.map((row_id) => ({ table_name: table, row_id, since })),
      { on: ["table_name", "row_id"], set: [], returning: [] },
    );

  const limit = isoAt(clock.now() - UNUSED_FOR);
  let removed = 0;
  for (const batch of batches(ids.filter((id) => (before.get(id) ?? since) <= limit))) {
    removed += await remove(batch);
    await forget(batch);
  }
  return removed;
}

function* batches(ids: readonly number[]): Generator<readonly number[]> {
  for (let at = 0; at < ids.length; at += BATCH_SIZE) yield ids.slice(at, at + BATCH_SIZE);
}
