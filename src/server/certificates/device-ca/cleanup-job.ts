import { hours } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { removeOldChallenges } from "./challenges.ts";
import { removeOldIdentities } from "./identities.ts";

/** Deletes challenges and identities that have ended. */
export const deviceCertificates: Job = {
  name: "device_certificates",
  every: hours(1),
  async run(services) {
    await removeOldChallenges(services);
    await removeOldIdentities(services);
  },
};
