// Updates the host counts of software, titles and operating systems, and deletes those without hosts.
import { channels } from "../core/channels.ts";
import { hours } from "../core/clock.ts";
import { asCounts, type Counts, countOf, without, writeCounts } from "../core/counts.ts";
import type { Job } from "../core/job.ts";
import type { ServerStore } from "../core/tables.ts";
import { countOsVersions } from "../hosts/os-versions.ts";
import { and, exists, gt, has, lte, not, oneOf } from "../store/query.ts";
import { removeUnused } from "../unused-rows/remove.ts";
import { software as versions } from "./tables.ts";

/** Rows per read or write. */
const BATCH = 1000;
const byId = [{ column: "id", direction: "asc" }] as const;

export const counts: Job = {
  name: "counts",
  every: hours(1),
  after: ["host_expiry"],
  async run(services, signal) {
    const { store, log } = services;
    const hostsOfVersion = await hostsBy(store, "software_ids", signal);
    const hostsOfTitle = await hostsBy(store, "title_ids", signal);
    if (signal.aborted) return;
    const versionIds = await writeCounts(
      store.software,
      ["hosts_count"],
      (id) => ({ hosts_count: countOf(hostsOfVersion, id) }),
      (changes) => store.software.updateEach(changes),
    );
    const healed = await askAgain(store, hostsOfVersion, versionIds);
    if (healed > 0) log.warn({ hosts: healed }, "hosts with unknown software will report it again");
    const left = await removeUnused(services, "software", without(versionIds, hostsOfVersion), (ids) =>
      store.software.delete(oneOf("id", ids)),
    );
    if (signal.aborted) return;

    const versionsOfTitle = asCounts(await store.software.groupCount("title_id"));
    const titleIds = await writeCounts(
      store.softwareTitles,
      ["hosts_count", "versions_count"],
      (id) => ({ hosts_count: countOf(hostsOfTitle, id), versions_count: countOf(versionsOfTitle, id) }),
      (changes) => store.softwareTitles.updateEach(changes),
    );
    const untitled = await removeUnused(services, "software_titles", without(titleIds, versionsOfTitle), (ids) =>
      store.softwareTitles.delete(and(oneOf("id", ids), not(exists(versions, "title_id")))),
    );
    if (left + untitled > 0) await store.notify(channels.software, "");

    await countOsVersions(services);
  },
};

/** The number of hosts per version or title. Hosts are read in slices, because there are millions of pairs. */
async function hostsBy(store: ServerStore, column: "software_ids" | "title_ids", signal: AbortSignal): Promise<Counts> {
  const found = new Map<number, number>();
  for (let last = 0; !signal.aborted; ) {
    const slice = await store.hostSoftware.pick(["id"], { where: gt("id", last), order: byId, limit: BATCH });
    const end = slice.at(-1)?.id;
    if (end === undefined) break;
    const groups = await store.hostSoftware.groupCount(column, and(gt("id", last), lte("id", end)));
    for (const [id, count] of asCounts(groups)) found.set(id, countOf(found, id) + count);
    last = end;
  }
  return found;
}

/**
 * A host may report a version at the moment in which it is deleted. Clearing the host's fingerprint makes the server
 * store its next inventory completely.
 */
async function askAgain(store: ServerStore, found: Counts, known: ReadonlySet<number>): Promise<number> {
  const lost = [...found.keys()].filter((id) => !known.has(id));
  if (lost.length === 0) return 0;
  const still = new Set((await store.software.getMany(lost)).map(({ id }) => id));
  const gone = lost.filter((id) => !still.has(id));
  if (gone.length === 0) return 0;
  const healed = await store.hostSoftware.update({ where: has("software_ids", ...gone), set: { fingerprint: "" } });
  await store.notify(channels.software, "");
  return healed;
}
