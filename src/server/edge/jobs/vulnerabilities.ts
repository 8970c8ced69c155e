import { reportVulnerabilities } from "../../automations/webhooks/vulnerabilities.ts";
import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { importFeeds } from "../../software/vulnerabilities/feeds/import.ts";
import { matchAll } from "../../software/vulnerabilities/matching/run.ts";

/** Imports vulnerability data, matches software with it, and notifies the configured recipients of new vulnerabilities on hosts. */
export const vulnerabilities: Job = {
  name: "vulnerabilities",
  every: hours(1),
  async run(services, signal) {
    let failed: string[] = [];
    try {
      failed = await importFeeds(services, signal);
      await matchAll(services, signal);
      await reportVulnerabilities(services, signal);
    } catch (error) {
      // What was interrupted has not failed: it goes on as soon as a server can.
      if (!signal.aborted) throw error;
    }
    // Reported at the end: what could be imported is used.
    if (failed.length > 0) throw new Error(`Some feeds could not be imported. ${failed.join(" ")}`);
  },
};
