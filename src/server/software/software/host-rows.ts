// Writes the rows of hosts' software, with the changes of counts.

import { CountChanges, type ListedSoftware, listsOf, recordCountChanges } from "../../hosts/count-changes/software.ts";
import { recordSoftware, systemsOf } from "../../hosts/count-changes/vulnerabilities.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import { distinctInOrder } from "../../platform/store/rows.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import type { hostSoftware } from "./tables.ts";

export type HostSoftwareRow = InsertOf<typeof hostSoftware> & { id: number };

/** Call it after the hosts' rows were written: that locks them, so that they stay in their teams until the commit. */
export async function writeHostSoftware(tx: ServerTx, rows: readonly HostSoftwareRow[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  // Read again, because another server may have written since.
  const [before, hosts] = await Promise.all([listsOf(tx, ids), systemsOf(tx, ids)]);
  const distinct = rows.map((row) => ({
    ...row,
    software_ids: distinctInOrder(row.software_ids),
    title_ids: distinctInOrder(row.title_ids),
  }));
  const written = await withoutDeleted(tx, distinct, before);
  await tx.hostSoftware.upsert(written, { on: ["id"], returning: [] });
  const changes = new CountChanges();
  for (const row of written) changes.note(hosts.get(row.id)?.team_id ?? null, before.get(row.id), row);
  await recordCountChanges(tx, changes);
  await recordSoftware(
    tx,
    hosts,
    new Map(
      written.map(({ id, software_ids }) => [id, { before: before.get(id)?.software_ids ?? [], after: software_ids }]),
    ),
  );
}

/**
 * A version may have been deleted since it was looked up, because its last host has lost it. Then it is left out, and the
 * host's next report is stored completely.
 */
async function withoutDeleted(
  tx: ServerTx,
  rows: readonly HostSoftwareRow[],
  before: ReadonlyMap<number, ListedSoftware>,
): Promise<HostSoftwareRow[]> {
  const added = new Set<number>();
  for (const { id, software_ids } of rows) {
    const had = new Set(before.get(id)?.software_ids);
    for (const version of software_ids) if (!had.has(version)) added.add(version);
  }
  for (const { id } of await tx.software.pick(["id"], { where: oneOf("id", [...added]) })) added.delete(id);
  if (added.size === 0) return [...rows];
  return Promise.all(
    rows.map(async (row) => {
      const software_ids = row.software_ids.filter((version) => !added.has(version));
      if (software_ids.length === row.software_ids.length) return row;
      const versions = await tx.software.pick(["title_id"], { where: oneOf("id", software_ids) });
      const details = Object.fromEntries(
        Object.entries(row.details).filter(([version]) => !added.has(Number(version))),
      );
      return {
        ...row,
        software_ids,
        title_ids: distinctInOrder(versions.map(({ title_id }) => title_id)),
        details,
        fingerprint: "",
      };
    }),
  );
}
