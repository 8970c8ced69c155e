import { sessionCleanup } from "../../accounts/sessions/cleanup-job.ts";
import { ssoCleanup } from "../../accounts/sso/cleanup-job.ts";
import { calendarJob } from "../../automations/calendar/job.ts";
import { conditionalAccessCleanup } from "../../automations/conditional-access/cleanup-job.ts";
import { complianceComparison, complianceJob } from "../../automations/conditional-access/compliance/job.ts";
import { policyMails } from "../../automations/policy-mails/job.ts";
import { automations } from "../../automations/webhooks/automations-job.ts";
import { deviceCertificates } from "../../certificates/device-ca/cleanup-job.ts";
import { carveBlocks, carveExpiry } from "../../checks/carves/expiry-job.ts";
import { policyCounts } from "../../checks/policies/counts-job.ts";
import { queryErrorsJob } from "../../checks/queries/failures.ts";
import { queryReports } from "../../checks/queries/reports-job.ts";
import { queryStats } from "../../checks/queries/stats-job.ts";
import { policyActionsJob } from "../../delivery/policy-actions/act.ts";
import { scriptBatchesJob } from "../../delivery/scripts/batches/carry-out.ts";
import { vppSync } from "../../delivery/store-apps/sync-job.ts";
import { storeAppUpdates } from "../../delivery/store-apps/updates.ts";
import { storeAppsJob } from "../../delivery/store-apps/worker.ts";
import { androidCommandJob } from "../../devices/android/commands/sender.ts";
import { androidAgentJob } from "../../devices/android/policies/agent-app.ts";
import { androidPolicyJob } from "../../devices/android/policies/sender.ts";
import { androidSync } from "../../devices/android/sync/jobs.ts";
import { agentProfileJob } from "../../devices/apple/agent-profile/keep.ts";
import { appleUpdatesJob } from "../../devices/apple/declarations/updates.ts";
import { appleDetailsJob } from "../../devices/apple/details/job.ts";
import { endUserCleanup } from "../../devices/apple/enroll/end-users.ts";
import { identityRenewal } from "../../devices/apple/enroll/renewal.ts";
import { filevaultJob } from "../../devices/apple/filevault/enforce.ts";
import { hostNamesJob } from "../../devices/apple/names/keep.ts";
import { recoveryLocksJob } from "../../devices/apple/passwords/keep.ts";
import { portalSync } from "../../devices/apple/portal/sync.ts";
import { applePushJob } from "../../devices/apple/push/push-job.ts";
import { setupJob } from "../../devices/apple/setup/setup-job.ts";
import { diskEncryptionJob } from "../../devices/encryption-settings/states.ts";
import { expiryJob } from "../../devices/expiry/expiry-job.ts";
import { certificateRenewal } from "../../devices/profiles/certificate-renewal.ts";
import { profilesJob } from "../../devices/profiles/part.ts";
import { nonceCleanup } from "../../devices/windows/channel/nonces.ts";
import { windowsJoinsJob } from "../../devices/windows/joins/joins.ts";
import { windowsSignInCleanup } from "../../devices/windows/sign-in/used.ts";
import { startupPinsJob } from "../../devices/windows/startup-pin/startup-pin.ts";
import { windowsUpdatesJob } from "../../devices/windows/updates/updates.ts";
import { directorySync } from "../../hosts/directory/sync-job.ts";
import { deviceManagement } from "../../hosts/munki/unused-job.ts";
import { operationsJob } from "../../hosts/operations/operations-job.ts";
import { endUserLinks } from "../../hosts/scim/links.ts";
import { approvals } from "../../inventory/approvals/approvals-job.ts";
import { historyCleanup, historySamples } from "../../inventory/charts/jobs.ts";
import { hostExpiry } from "../../inventory/host-list/expiry-job.ts";
import { labelCriteria } from "../../inventory/labels/criteria-job.ts";
import { liveQueryCleanup } from "../../inventory/live-queries/cleanup-job.ts";
import { activityExpiry } from "../../inventory/live-queries/expiry-job.ts";
import { activitySearch } from "../../platform/activities/search-job.ts";
import type { Job } from "../../platform/core/job.ts";
import { fileCleanup } from "../../platform/files/cleanup-job.ts";
import { oneTimeCleanup } from "../../platform/mail/one-time-job.ts";
import { outboxCleanup } from "../../platform/outbox/cleanup-job.ts";
import { integrations } from "../../platform/outbox/integrations-job.ts";
import { policyRunCleanup } from "../../platform/policy-runs/cleanup-job.ts";
import { rateLimitCleanup } from "../../platform/rate-limits/cleanup-job.ts";
import { taskCleanup } from "../../platform/tasks/cleanup-job.ts";
import { expiredUploads } from "../../platform/uploads/expiry-job.ts";
import { appleVersionsJob } from "../../settings/apple-versions/sync-job.ts";
import { enrollTokenCleanup } from "../../settings/enroll-secrets/cleanup.ts";
import { catalogueJob } from "../../software/catalogue/sync-job.ts";
import { catalogueUpdates } from "../../software/catalogue/updates.ts";
import { counts } from "../../software/software/counts-job.ts";
import { versionKeys } from "../../software/software/version-keys-job.ts";
import { deviceSessionCleanup } from "../device-sign-in/session.ts";
/** In the order in which they run when all are due. Hosts expire first, so that they are not counted. */ import { planCleanup } from "../plans/cleanup-job.ts";
import { uploadCleanup } from "./upload-cleanup.ts";
import { vulnerabilities } from "./vulnerabilities.ts";

export const allJobs: readonly Job[] = [
  hostExpiry,
  counts,
  versionKeys,
  deviceManagement,
  policyCounts,
  queryReports,
  queryStats,
  activityExpiry,
  activitySearch,
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
  historySamples,
  historyCleanup,
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
  policyRunCleanup,
  approvals,
  taskCleanup,
  planCleanup,
];
