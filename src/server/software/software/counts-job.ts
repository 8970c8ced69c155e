// Deletes titles and versions that are on no host, counts the hosts of operating systems, and corrects counts.

import { countOsVersions } from "../../hosts/hosts/os-versions.ts";
import { channels } from "../../platform/core/channels.ts";
import { hours, isoAt } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { has } from "../../platform/store/query.ts";
import { addSoftwareCounts, recountSoftware } from "./counts.ts";
import { nameTitles } from "./titles/names.ts";
import { removeUnusedSoftware } from "./unused.ts";
import { addVulnerabilityCounts } from "./vulnerabilities/counts.ts";
import { recountVulnerabilities } from "./vulnerabilities/recount.ts";
import { stateOf } from "./vulnerabilities/state.ts";

/** The software of all hosts is counted this often. */
const RECOUNT_EVERY = hours(24);

export const counts: Job = {
  name: "counts",
  every: hours(1),
  after: ["host_expiry"],
  async run(services, signal) {
    const { store, clock, log } = services;
    const state = await store.softwareCountState.first({});
    if ((state?.recounted_at ?? "") <= isoAt(clock.now() - RECOUNT_EVERY)) {
      const unknown = await recountSoftware(services, signal);
      const healed = await askAgain(store, unknown ?? []);
      if (healed > 0) log.warn({ hosts: healed }, "hosts with unknown software will report it again");
      const renamed = await nameTitles(services, signal);
      if (renamed > 0)
        log.info({ titles: renamed }, "software titles were given the name that most of their copies have");
    }
    while (!signal.aborted && (await addSoftwareCounts(services)));
    const vulnerabilities = await stateOf(store);
    if ((vulnerabilities?.recounted_at ?? "") <= isoAt(clock.now() - RECOUNT_EVERY))
      await recountVulnerabilities(services, signal);
    while (!signal.aborted && (await addVulnerabilityCounts(services)));
    if (signal.aborted) return;
    await removeUnusedSoftware(services);
    await countOsVersions(services);
  },
};

/**
 * A host may report a version at the moment in which it is deleted. Clearing the host's fingerprint makes the server
 * store its next inventory completely.
 */
async function askAgain(store: ServerTx, unknown: readonly number[]): Promise<number> {
  if (unknown.length === 0) return 0;
  const healed = await store.hostSoftware.update({ where: has("software_ids", ...unknown), set: { fingerprint: "" } });
  await store.notify(channels.software, "");
  return healed;
}
