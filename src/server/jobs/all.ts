import { appleVersionsJob } from "../apple-versions/sync-job.ts";
import { approvals } from "../approvals/approvals-job.ts";
import { calendarJob } from "../calendar/job.ts";
import { carveBlocks, carveExpiry } from "../carves/expiry-job.ts";
import { catalogueJob } from "../catalogue/sync-job.ts";
import { catalogueUpdates } from "../catalogue/updates.ts";
import { conditionalAccessCleanup } from "../conditional-access/cleanup-job.ts";
import { complianceComparison, complianceJob } from "../conditional-access/compliance/job.ts";
import type { Job } from "../core/job.ts";
import { deviceCertificates } from "../device-ca/cleanup-job.ts";
import { deviceSessionCleanup } from "../device-sign-in/session.ts";
import { directorySync } from "../directory/sync-job.ts";
import { enrollTokenCleanup } from "../enroll-secrets/cleanup.ts";
import { fileCleanup } from "../files/cleanup-job.ts";
import { hostExpiry } from "../host-list/expiry-job.ts";
import { labelCriteria } from "../labels/criteria-job.ts";
import { liveQueryCleanup } from "../live-queries/cleanup-job.ts";
import { activityExpiry } from "../live-queries/expiry-job.ts";
import { oneTimeCleanup } from "../mail/one-time-job.ts";
import { androidCommandJob } from "../mdm/android/commands/sender.ts";
import { androidAgentJob } from "../mdm/android/policies/agent-app.ts";
import { androidPolicyJob } from "../mdm/android/policies/sender.ts";
import { androidSync } from "../mdm/android/sync/jobs.ts";
import { agentProfileJob } from "../mdm/apple/agent-profile/keep.ts";
import { appleUpdatesJob } from "../mdm/apple/declarations/updates.ts";
import { appleDetailsJob } from "../mdm/apple/details/job.ts";
import { endUserCleanup } from "../mdm/apple/enroll/end-users.ts";
import { identityRenewal } from "../mdm/apple/enroll/renewal.ts";
import { filevaultJob } from "../mdm/apple/filevault/enforce.ts";
import { hostNamesJob } from "../mdm/apple/names/keep.ts";
import { recoveryLocksJob } from "../mdm/apple/passwords/keep.ts";
import { portalSync } from "../mdm/apple/portal/sync.ts";
import { applePushJob } from "../mdm/apple/push/push-job.ts";
import { setupJob } from "../mdm/apple/setup/setup-job.ts";
import { diskEncryptionJob } from "../mdm/disk-encryption/states.ts";
import { expiryJob } from "../mdm/expiry/expiry-job.ts";
import { certificateRenewal } from "../mdm/profiles/certificate-renewal.ts";
import { profilesJob } from "../mdm/profiles/part.ts";
import { nonceCleanup } from "../mdm/windows/channel/nonces.ts";
import { windowsJoinsJob } from "../mdm/windows/joins/joins.ts";
import { windowsSignInCleanup } from "../mdm/windows/sign-in/used.ts";
import { startupPinsJob } from "../mdm/windows/startup-pin/startup-pin.ts";
import { windowsUpdatesJob } from "../mdm/windows/updates/updates.ts";
import { deviceManagement } from "../munki/unused-job.ts";
import { operationsJob } from "../operations/operations-job.ts";
import { outboxCleanup } from "../outbox/cleanup-job.ts";
import { integrations } from "../outbox/integrations-job.ts";
import { policyCounts } from "../policies/counts-job.ts";
import { policyActionsJob } from "../policy-actions/act.ts";
import { policyMails } from "../policy-mails/job.ts";
import { queryErrorsJob } from "../queries/failures.ts";
import { queryReports } from "../queries/reports-job.ts";
import { queryStats } from "../queries/stats-job.ts";
import { rateLimitCleanup } from "../rate-limits/cleanup-job.ts";
import { endUserLinks } from "../scim/links.ts";
import { scriptBatchesJob } from "../scripts/batches/carry-out.ts";
import { sessionCleanup } from "../sessions/cleanup-job.ts";
import { counts } from "../software/counts-job.ts";
import { versionKeys } from "../software/version-keys-job.ts";
import { ssoCleanup } from "../sso/cleanup-job.ts";
import { vppSync } from "../store-apps/sync-job.ts";
import { storeAppUpdates } from "../store-apps/updates.ts";
import { storeAppsJob } from "../store-apps/worker.ts";
import { taskCleanup } from "../tasks/cleanup-job.ts";
import { expiredUploads } from "../uploads/expiry-job.ts";
import { vulnerabilities } from "../vulnerabilities/job.ts";
import { automations } from "../webhooks/automations-job.ts";
import { uploadCleanup } from "./upload-cleanup.ts";

/** In the order in which they run when all are due. Hosts expire first, so that they are not counted. */
export const allJobs: readonly Job[] = [
  hostExpiry,
  counts,
  versionKeys,
  deviceManagement,
  policyCounts,
  queryReports,
  queryStats,
  activityExpiry,
  sessionCleanup,
  oneTimeCleanup,
  enrollTokenCleanup,
  ssoCleanup,
  endUserCleanup,
  windowsSignInCleanup,
  deviceSessionCleanup,
  endUserLinks,
  directorySync,
  nonceCleanup,
  rateLimitCleanup,
  deviceCertificates,
  conditionalAccessCleanup,
  complianceComparison,
  complianceJob,
  expiryJob,
  carveExpiry,
  carveBlocks,
  uploadCleanup,
  expiredUploads,
  fileCleanup,
  labelCriteria,
  liveQueryCleanup,
  automations,
  policyMails,
  calendarJob,
  vulnerabilities,
  integrations,
  operationsJob,
  scriptBatchesJob,
  identityRenewal,
  applePushJob,
  appleDetailsJob,
  portalSync,
  vppSync,
  storeAppsJob,
  policyActionsJob,
  storeAppUpdates,
  catalogueJob,
  catalogueUpdates,
  certificateRenewal,
  profilesJob,
  androidSync,
  androidPolicyJob,
  androidAgentJob,
  androidCommandJob,
  appleVersionsJob,
  appleUpdatesJob,
  windowsUpdatesJob,
  startupPinsJob,
  windowsJoinsJob,
  queryErrorsJob,
  diskEncryptionJob,
  filevaultJob,
  agentProfileJob,
  recoveryLocksJob,
  hostNamesJob,
  setupJob,
  outboxCleanup,
  approvals,
  taskCleanup,
];
