// Keys by which versions are ordered. New versions have one; those whose keys a migration has cleared, because the rules have
// changed, get theirs here, in small steps, because agents are served by the same store.

import { fillSystemVersionKeys } from "../../hosts/hosts/os-versions.ts";
import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { isNull } from "../../platform/store/query.ts";
import { versionKey } from "../../platform/versions/ordering.ts";
import type { SoftwareVersion } from "./reported-rows/read.ts";

const BATCH_SIZE = 1_000;

export const keyOfVersion = ({ source, version, release }: Pick<SoftwareVersion, "source" | "version" | "release">) =>
  versionKey(source, version, release);

export const versionKeys: Job = {
  name: "version_keys",
  every: hours(1),
  async run({ store }, signal) {
    await fillSystemVersionKeys({ store });
    while (!signal.aborted) {
      const rows = await store.software.pick(["id", "source", "version", "release"], {
        where: isNull("version_key"),
        limit: BATCH_SIZE,
      });
      await store.software.updateEach(rows.map((row) => ({ id: row.id, version_key: keyOfVersion(row) })));
      if (rows.length < BATCH_SIZE) return;
    }
  },
};
