import { steps } from "../../platform/core/concurrency/parts.ts";
import { oneOf, type Predicate } from "../../platform/store/query.ts";
import type { Collection } from "../../platform/store/store.ts";
import type { Columns, Table } from "../../platform/store/table.ts";

/** Rows that one transaction deletes. */
const BATCH_SIZE = 500;

/** Deletes many rows without keeping other requests waiting. */
export async function deleteInSteps<C extends Columns>(
  rows: Collection<Table<C>>,
  where: Predicate,
  signal: AbortSignal,
): Promise<void> {
  const rest = steps();
  for (; !signal.aborted; await rest()) {
    const ids = (await rows.pick(["id"], { where, limit: BATCH_SIZE })).map((row) => (row as { id: number }).id);
    if (ids.length === 0) return;
    await rows.delete(oneOf("id", ids));
  }
}
