import { hours, minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { readDuration } from "../../platform/core/duration.ts";
import type { Job } from "../../platform/core/job.ts";
import { reportFailingPolicies } from "./failing-policies.ts";
import { reportHostStatus } from "./host-status.ts";

const DEFAULT = hours(24);
const MIN_PERIOD = minutes(1);

/** `webhook_settings.interval`. */
async function periodOf({ config }: Pick<Services, "config">): Promise<number> {
  const { webhook_settings } = await config.current();
  return Math.max(MIN_PERIOD, readDuration(webhook_settings.interval) ?? DEFAULT);
}

/**
 * Periodic automations: newly failing hosts and missing hosts. Vulnerabilities have a job and a period of their own.
 */
export const automations: Job = {
  name: "automations",
  every: DEFAULT,
  period: periodOf,
  async run(services, signal) {
    // A failure of one part must not prevent the others.
    const parts = [
      () => reportFailingPolicies(services, signal),
      async () => reportHostStatus(services, await periodOf(services), signal),
    ];
    const failed: unknown[] = [];
    for (const part of parts) await part().catch((error: unknown) => failed.push(error));
    if (failed.length > 0) throw failed[0];
  },
};
