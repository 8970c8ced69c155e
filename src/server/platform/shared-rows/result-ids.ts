// Increasing ids that are never reused. The caller must hold the lock of the table that uses them, so that they are
// committed in order.

import type { ServerTx } from "../core/tables.ts";
import { lt } from "../store/query.ts";

export async function newResultIds(store: ServerTx, count: number, now: string): Promise<number[]> {
  if (count === 0) return [];
  const rows = await store.policyResultIds.insertMany(Array.from({ length: count }, () => ({ created_at: now })));
  const ids = rows.map(({ id }) => id);
  await store.policyResultIds.delete(lt("id", Math.max(...ids)));
  return ids;
}
