// Operating system releases: one row each, with the number of its hosts.
import type { Services } from "../core/context.ts";
import { asCounts, countOf, without, writeCounts } from "../core/counts.ts";
import { removeUnused } from "../core/unused.ts";
import { and, exists, not, oneOf } from "../store/query.ts";
import { hosts } from "./tables.ts";

/** Corrects the host counts of all releases, and deletes releases that no host has any more. */
export async function countOsVersions(services: Services): Promise<void> {
  const { store } = services;
  const found = asCounts(await store.hosts.groupCount("os_version_id"));
  const ids = await writeCounts(
    store.osVersions,
    ["hosts_count"],
    (id) => ({ hosts_count: countOf(found, id) }),
    (changes) => store.osVersions.updateEach(changes),
  );
  await removeUnused(services, "os_versions", without(ids, found), (some) =>
    store.osVersions.delete(and(oneOf("id", some), not(exists(hosts, "os_version_id")))),
  );
}
