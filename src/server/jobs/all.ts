import { activityExpiry } from "./activity-expiry.ts";
import { approvals } from "./approvals.ts";
import { automations } from "./automations.ts";
import { carveBlocks, carveExpiry } from "./carve-expiry.ts";
import { counts } from "./counts.ts";
import { deviceManagement } from "./device-management.ts";
import { hostExpiry } from "./host-expiry.ts";
import { integrations } from "./integrations.ts";
import type { Job } from "./job.ts";
import { labelCriteria } from "./label-criteria.ts";
import { liveQueryCleanup } from "./live-query-cleanup.ts";
import { oneTimeCleanup } from "./one-time-cleanup.ts";
import { outboxCleanup } from "./outbox-cleanup.ts";
import { policyCounts } from "./policy-counts.ts";
import { queryReports } from "./query-reports.ts";
import { queryStats } from "./query-stats.ts";
import { rateLimitCleanup } from "./rate-limit-cleanup.ts";
import { sessionCleanup } from "./session-cleanup.ts";
import { ssoCleanup } from "./sso-cleanup.ts";
import { vulnerabilities } from "./vulnerabilities.ts";

/** In the order in which they run when all are due. Hosts expire first, so that they are not counted. */
export const allJobs: readonly Job[] = [
  hostExpiry,
  counts,
  deviceManagement,
  policyCounts,
  queryReports,
  queryStats,
  activityExpiry,
  sessionCleanup,
  oneTimeCleanup,
  ssoCleanup,
  rateLimitCleanup,
  carveExpiry,
  carveBlocks,
  labelCriteria,
  liveQueryCleanup,
  automations,
  vulnerabilities,
  integrations,
  outboxCleanup,
  approvals,
];
