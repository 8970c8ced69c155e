import { hours } from "../core/clock.ts";
import type { Job } from "../core/job.ts";
import { removeUnusedFiles } from "./service.ts";

export const fileCleanup: Job = {
  name: "file_cleanup",
  every: hours(1),
  async run(services, signal) {
    const removed = await removeUnusedFiles(services, signal);
    if (removed > 0) services.log.info({ files: removed }, "files that nothing refers to were removed");
  },
};
