import { createHash } from "node:crypto";
import { hours } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { OutboundError } from "../../platform/core/outbound/fetch.ts";
import { eq, everything } from "../../platform/store/query.ts";
import { readVersions, VersionListError } from "./source.ts";
import type { AppleVersion } from "./tables.ts";

/** Reads the vendor's list for all servers. If it cannot be read, the one before stays. */
export const appleVersionsJob: Job = {
  name: "apple_versions",
  every: hours(1),
  async run(services) {
    if (!(await services.config.current()).mdm.enabled_and_configured) return;
    const versions = await listOrNull(services);
    if (versions === null) return;
    const checksum = createHash("sha256").update(JSON.stringify(versions)).digest("hex");
    const read_at = services.clock.iso();
    await services.store.tx(
      async (store) => {
        const [before] = await store.appleVersionLists.pick(["id", "checksum"]);
        if (before?.checksum === checksum)
          await store.appleVersionLists.update({ where: eq("id", before.id), set: { read_at } });
        else {
          await store.appleVersionLists.delete(everything);
          await store.appleVersionLists.insert({ checksum, read_at, versions });
        }
      },
      { lock: "apple-versions" },
    );
  },
};

async function listOrNull(services: Services): Promise<AppleVersion[] | null> {
  try {
    return await readVersions(services);
  } catch (error) {
    if (!(error instanceof VersionListError || error instanceof OutboundError)) throw error;
    services.log.warn({ reason: error.message }, "cannot read the vendor's list of system versions; trying again");
    return null;
  }
}
