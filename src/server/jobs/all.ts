import { activityExpiry } from "./activity-expiry.ts";
import { counts } from "./counts.ts";
import { hostExpiry } from "./host-expiry.ts";
import type { Job } from "./job.ts";
import { sessionCleanup } from "./session-cleanup.ts";

/** In the order in which they run when all are due: hosts that expire are not counted. */
export const allJobs: readonly Job[] = [hostExpiry, counts, activityExpiry, sessionCleanup];
