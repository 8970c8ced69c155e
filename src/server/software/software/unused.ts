// Deletes titles and versions that are on no host.

import { channels } from "../../platform/core/channels.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Services } from "../../platform/core/context.ts";
import { memo } from "../../platform/core/memo.ts";
import { removeUnused } from "../../platform/shared-rows/unused.ts";
import { and, exists, has, not, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { Table } from "../../platform/store/table.ts";
import { softwareTitleCounts, softwareVersionCounts, software as versions } from "./tables.ts";

const unusedVersion = not(exists(softwareVersionCounts, "software_id"));
/** Titles to which neither hosts nor rows of other tables refer. */
const unusedTitle = memo(
  (tables: Readonly<Record<string, Table>>): Predicate =>
    and(
      not(exists(softwareTitleCounts, "title_id")),
      not(exists(versions, "title_id")),
      ...Object.values(tables).flatMap((table) =>
        Object.entries(table.columns)
          .filter(([, { spec }]) => spec.to === "software_titles" && spec.onDelete === "restrict")
          .map(([column]) => not(exists(table, column))),
      ),
    ),
);

const idsOf = async (rows: Promise<readonly { id: number }[]>) => (await rows).map(({ id }) => id);
const unusedAmong = (ids: readonly number[], unused: Predicate) => and(oneOf("id", ids), unused);

/** All that are unused, such as those of inventories that could not be stored. */
export async function removeUnusedSoftware(services: Services): Promise<void> {
  const { store } = services;
  const unused = await idsOf(store.software.pick(["id"], { where: unusedVersion }));
  const removedVersions = await removeUnused(services, "software", unused, (ids) =>
    store.software.delete(unusedAmong(ids, unusedVersion)),
  );
  const untitled = await idsOf(store.softwareTitles.pick(["id"], { where: unusedTitle(services.store.tables) }));
  const removedTitles = await removeUnused(services, "software_titles", untitled, (ids) =>
    store.softwareTitles.delete(unusedAmong(ids, unusedTitle(services.store.tables))),
  );
  if (removedVersions + removedTitles > 0) await store.notify(channels.software, "");
}

/**
 * Removes the versions that have just lost their last host, and their titles. A host may report one at this moment:
 * `writeHostSoftware` leaves out versions that do not exist.
 */
export async function removeLostSoftware(
  services: Pick<Services, "store">,
  versionIds: readonly number[],
): Promise<void> {
  const { store } = services;
  let removed = 0;
  for await (const batch of parts(versionIds)) {
    const unused = await store.software.pick(["id", "title_id"], { where: unusedAmong(batch, unusedVersion) });
    const ids = unused.map(({ id }) => id);
    const inUse = await store.hostSoftware.pick(["software_ids"], { where: has("software_ids", ...ids) });
    const used = new Set(inUse.flatMap(({ software_ids }) => software_ids));
    const lost = ids.filter((id) => !used.has(id));
    removed += await store.software.delete(unusedAmong(lost, unusedVersion));
    const titles = [...new Set(unused.map(({ title_id }) => title_id))];
    removed += await store.softwareTitles.delete(unusedAmong(titles, unusedTitle(services.store.tables)));
  }
  if (removed > 0) await store.notify(channels.software, "");
}
