// Critical vulnerabilities of hosts: their number is part of the row of policy results, so that lists of hosts can be
// sorted by all issues.

import { touchHosts } from "../../hosts/hosts/write.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { resultsOf, rowOf } from "./results.ts";

/** Stores the numbers of these hosts. `count` is called when their rows are locked. */
export async function storeCritical(
  tx: ServerTx,
  hostIds: readonly number[],
  now: string,
  count: () => Promise<ReadonlyMap<number, number>>,
): Promise<void> {
  await touchHosts(tx, hostIds, now);
  const counts = await count();
  const stored = byId(await resultsOf(tx, [...counts.keys()]));
  const changed = [...counts].flatMap(([id, critical_count]) => {
    const row = stored.get(id) ?? { id, passing: [], failing: [], critical_count: 0 };
    return row.critical_count === critical_count ? [] : [rowOf({ ...row, critical_count })];
  });
  if (changed.length > 0) await tx.hostPolicies.upsert(changed, { on: ["id"], returning: [] });
}
