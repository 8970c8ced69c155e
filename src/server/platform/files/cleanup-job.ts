import { days, hours, isoAt } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { lte } from "../store/query.ts";
import { removeUnusedFiles } from "./service.ts";

/** Since a server was last asked for the file of a URL. */
const ORIGINS_KEPT_FOR = days(90);

export const fileCleanup: Job = {
  name: "file_cleanup",
  every: hours(1),
  async run(services, signal) {
    const { store, clock } = services;
    await store.fileOrigins.delete(lte("asked_at", isoAt(clock.now() - ORIGINS_KEPT_FOR)));
    const removed = await removeUnusedFiles(services, signal);
    if (removed > 0) services.log.info({ files: removed }, "files that nothing refers to were removed");
  },
};
