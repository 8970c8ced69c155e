import { parts } from "../../../platform/core/concurrency/parts.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";

/** Adds differences, by the id of the vulnerability. */
export async function addToScope(tx: ServerTx, scope: number, sums: ReadonlyMap<number, number>): Promise<void> {
  const changed = [...sums].filter(([, difference]) => difference !== 0).map(([id]) => id);
  for await (const batch of parts(changed)) {
    const where = and(eq("scope", scope), oneOf("vulnerability_id", batch));
    const rows = await tx.vulnerabilityCounts.pick(["id", "vulnerability_id", "hosts_count"], { where });
    const countedIds = new Set(rows.map(({ vulnerability_id }) => vulnerability_id));
    const next = rows.map(({ id, vulnerability_id, hosts_count }) => ({
      id,
      hosts_count: hosts_count + sums.get(vulnerability_id)!,
    }));
    await tx.vulnerabilityCounts.delete(
      oneOf(
        "id",
        next.filter(({ hosts_count }) => hosts_count <= 0).map(({ id }) => id),
      ),
    );
    await tx.vulnerabilityCounts.updateEach(next.filter(({ hosts_count }) => hosts_count > 0));
    await tx.vulnerabilityCounts.insertMany(
      batch
        .filter((id) => !countedIds.has(id) && sums.get(id)! > 0)
        .map((vulnerability_id) => ({ vulnerability_id, scope, hosts_count: sums.get(vulnerability_id)! })),
    );
  }
}
