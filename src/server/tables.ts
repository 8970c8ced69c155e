// Every table of the server, in an order in which rows can be created (tables that others refer to come first).

import { invites, inviteTeams } from "./accounts/invites/tables.ts";
import { sessions } from "./accounts/sessions/tables.ts";
import { ssoAssertions, ssoSessions } from "./accounts/sso/tables.ts";
import { users, userTeams } from "./accounts/users/tables.ts";
import { calendarEvents } from "./automations/calendar/tables.ts";
import {
  conditionalAccessBypasses,
  conditionalAccessKeys,
  conditionalAccessRequests,
  directoryDevices,
  directoryReporting,
} from "./automations/conditional-access/tables.ts";
import { policyMailStates } from "./automations/policy-mails/tables.ts";
import { seenCves, webhookDestinations, webhookMarks } from "./automations/webhooks/tables.ts";
import { certificateAuthorities } from "./certificates/ca/tables.ts";
import { certificateTemplates, hostCertificates } from "./certificates/certificates/tables.ts";
import { deviceCas, deviceIdentities, scepChallenges } from "./certificates/device-ca/tables.ts";
import { usedSignatures } from "./certificates/host-authentication/tables.ts";
import { carves } from "./checks/carves/tables.ts";
import { packs, packTargets, scheduledQueries } from "./checks/packs/tables.ts";
import {
  hostPolicies,
  policies,
  policyCountChanges,
  policyEvents,
  policyInstalls,
  policyLabels,
} from "./checks/policies/tables.ts";
import { queries, queryLabels, queryResults } from "./checks/queries/tables.ts";
import { agentSigningKeys } from "./delivery/new-hosts/tables.ts";
import { scriptBatches, scriptBatchHosts, scriptExecutions, scripts } from "./delivery/scripts/tables.ts";
import { hostSetupItems, hostSetups, setupScripts } from "./delivery/setup-experience/tables.ts";
import { softwareInstallRuns } from "./delivery/software-installs/tables.ts";
import {
  storeAppInstalls,
  storeAppLabels,
  storeAppLicenses,
  storeApps,
  storeListings,
  vppAssets,
  vppTokens,
  vppTokenTeams,
} from "./delivery/store-apps/tables.ts";
import { androidCommandQueues, androidCommands } from "./devices/android/commands/tables.ts";
import { androidDevices } from "./devices/android/devices/tables.ts";
import { androidEnterprises, androidSignUps } from "./devices/android/enterprise/tables.ts";
import { androidHostProfiles, androidPolicies } from "./devices/android/policies/tables.ts";
import { androidMessages } from "./devices/android/sync/tables.ts";
import { appleEnrollments } from "./devices/apple/channel/tables.ts";
import { appleUpdateReports, appleUpdates, declarationAssets } from "./devices/apple/declarations/tables.ts";
import { endUserSignIns } from "./devices/apple/enroll/tables.ts";
import {
  abmTokens,
  portalDevices,
  portalKeys,
  portalProfiles,
  setupAssistants,
} from "./devices/apple/portal/tables.ts";
import { applePushes } from "./devices/apple/push/tables.ts";
import { appleSetups, bootstrapPackages, eulas } from "./devices/apple/setup/tables.ts";
import { applePushCertificates, applePushRequests } from "./devices/apple/trust/tables.ts";
import { mdmCommands } from "./devices/commands/tables.ts";
import { expiryNotices } from "./devices/expiry/tables.ts";
import { hostNames } from "./devices/host-names/tables.ts";
import { managedAccounts, recoveryLocks } from "./devices/host-passwords/tables.ts";
import {
  configurationProfiles,
  hostProfiles,
  profileChallenges,
  profileContents,
  profileLabels,
} from "./devices/profiles/tables.ts";
import { windowsEnrollments, windowsNonces } from "./devices/windows/channel/tables.ts";
import { windowsProfileNodes } from "./devices/windows/profiles/tables.ts";
import { windowsSignIns, windowsUsedTokens } from "./devices/windows/sign-in/tables.ts";
import { windowsStartupPins } from "./devices/windows/startup-pin/tables.ts";
import { windowsUpdates } from "./devices/windows/updates/tables.ts";
import { macMigrations } from "./edge/device-page/tables.ts";
import { deviceSessions, deviceSignIns } from "./edge/device-sign-in/tables.ts";
import { jobRuns } from "./edge/jobs/tables.ts";
import { planContents, planScopes, plans } from "./edge/plans/tables.ts";
import { approvalChoices, approvals, approvalTeams, dangerUses } from "./hosts/approvals/tables.ts";
import { softwareCountChanges, vulnerabilityCountChanges } from "./hosts/count-changes/tables.ts";
import { directoryCredentials } from "./hosts/directory/tables.ts";
import { diskKeyHistory, hostDiskEncryption } from "./hosts/disk-encryption/tables.ts";
import { historyCleared, historyHours, historySamples } from "./hosts/history/tables.ts";
import { hostActions, scriptRuns } from "./hosts/host-actions/tables.ts";
import { hostContacts, hostDetails, hostEmails, hostSeen, hosts, osVersions } from "./hosts/hosts/tables.ts";
import { labelMembers, labels } from "./hosts/labels/tables.ts";
import { managedAgents } from "./hosts/managed-agents/tables.ts";
import { hostBootstrap, hostMdm, mdmSolutions } from "./hosts/mdm-status/tables.ts";
import { hostMunki, munkiIssues } from "./hosts/munki/tables.ts";
import { operationContents, operations } from "./hosts/operations/tables.ts";
import { hostSettings } from "./hosts/os-settings/tables.ts";
import { queryErrors } from "./hosts/query-errors/tables.ts";
import { hostEndUsers, scimGroups, scimLogins, scimMembers, scimRequests, scimUsers } from "./hosts/scim/tables.ts";
import { deviceLinks, deviceTokens } from "./inventory/device-tokens/tables.ts";
import { campaignHosts, campaigns } from "./inventory/live-queries/tables.ts";
import { activities, activityChain } from "./platform/activities/tables.ts";
import type { AllTables } from "./platform/core/tables.ts";
import { fileOrigins, files } from "./platform/files/tables.ts";
import { hostUsage } from "./platform/host-limits/tables.ts";
import { mailOptOuts, oneTimeTokens } from "./platform/mail/tables.ts";
import { outbox } from "./platform/outbox/tables.ts";
import { policyRuns } from "./platform/policy-runs/tables.ts";
import { rateLimits } from "./platform/rate-limits/tables.ts";
import { policyResultIds, serverSecrets, unusedRows } from "./platform/shared-rows/tables.ts";
import { taskHosts, taskPayloads, tasks } from "./platform/tasks/tables.ts";
import { uploadPieces, uploads } from "./platform/uploads/tables.ts";
import { configSections } from "./settings/app-config/tables.ts";
import { appleVersionLists } from "./settings/apple-versions/tables.ts";
import { enrollSecrets, enrollTokens } from "./settings/enroll-secrets/tables.ts";
import { logos } from "./settings/logo/tables.ts";
import { teams } from "./settings/teams/tables.ts";
import { customHostVitals, customVariables, hostVitalValues } from "./settings/variables/tables.ts";
import { views } from "./settings/views/tables.ts";
import { catalogueApps, catalogueOffers } from "./software/catalogue/tables.ts";
import { installerLabels, softwareInstallers } from "./software/installers/tables.ts";
import { packageBatches } from "./software/package-batches/tables.ts";
import { scriptTexts } from "./software/script-texts/tables.ts";
import { selfServiceCategories, titleIcons } from "./software/self-service/tables.ts";
import {
  hostSoftware,
  software,
  softwareCountState,
  softwareInstalls,
  softwareTitleCounts,
  softwareTitles,
  softwareVersionCounts,
} from "./software/software/tables.ts";
import {
  osCves,
  softwareCves,
  vulnerabilities,
  vulnerabilityCountState,
  vulnerabilityCounts,
} from "./software/software/vulnerabilities/tables.ts";
import { vulnerabilityFeeds } from "./software/vulnerabilities/feeds/tables.ts";
import { vulnerabilityMatching } from "./software/vulnerabilities/matching/tables.ts";
import { vulnerableHosts, vulnerableSources } from "./software/vulnerability-history/tables.ts";

export const tables: AllTables = {
  teams,
  users,
  userTeams,
  views,
  sessions,
  mailOptOuts,
  oneTimeTokens,
  policyMailStates,
  rateLimits,
  invites,
  inviteTeams,
  ssoSessions,
  ssoAssertions,
  serverSecrets,
  enrollSecrets,
  enrollTokens,
  configSections,
  appleVersionLists,
  files,
  fileOrigins,
  uploads,
  uploadPieces,
  activities,
  activityChain,
  outbox,
  webhookDestinations,
  webhookMarks,
  seenCves,
  certificateAuthorities,
  osVersions,
  hosts,
  hostSeen,
  hostContacts,
  hostUsage,
  hostDetails,
  hostEmails,
  scimUsers,
  scimLogins,
  scimGroups,
  scimMembers,
  scimRequests,
  hostEndUsers,
  directoryCredentials,
  customVariables,
  customHostVitals,
  hostVitalValues,
  certificateTemplates,
  hostCertificates,
  labels,
  labelMembers,
  softwareTitles,
  software,
  hostSoftware,
  softwareCves,
  osCves,
  vulnerabilities,
  vulnerabilityCounts,
  vulnerabilityCountChanges,
  vulnerabilityCountState,
  softwareInstalls,
  selfServiceCategories,
  titleIcons,
  scriptTexts,
  scripts,
  setupScripts,
  hostSetups,
  hostSetupItems,
  scriptBatches,
  scriptBatchHosts,
  scriptExecutions,
  softwareTitleCounts,
  softwareVersionCounts,
  softwareCountChanges,
  softwareCountState,
  softwareInstallers,
  catalogueOffers,
  packageBatches,
  installerLabels,
  catalogueApps,
  vulnerabilityFeeds,
  vulnerabilityMatching,
  policies,
  policyLabels,
  hostPolicies,
  policyResultIds,
  policyCountChanges,
  policyEvents,
  queries,
  queryErrors,
  queryLabels,
  queryResults,
  packs,
  packTargets,
  scheduledQueries,
  campaigns,
  campaignHosts,
  carves,
  operationContents,
  hostSettings,
  operations,
  softwareInstallRuns,
  policyInstalls,
  policyRuns,
  mdmCommands,
  scriptRuns,
  hostActions,
  managedAgents,
  usedSignatures,
  deviceLinks,
  calendarEvents,
  deviceSignIns,
  deviceSessions,
  conditionalAccessBypasses,
  conditionalAccessKeys,
  conditionalAccessRequests,
  directoryDevices,
  directoryReporting,
  deviceTokens,
  macMigrations,
  applePushRequests,
  applePushCertificates,
  expiryNotices,
  agentSigningKeys,
  deviceCas,
  deviceIdentities,
  appleEnrollments,
  endUserSignIns,
  windowsEnrollments,
  windowsNonces,
  windowsProfileNodes,
  windowsSignIns,
  windowsUsedTokens,
  windowsStartupPins,
  windowsUpdates,
  appleUpdates,
  appleUpdateReports,
  appleSetups,
  declarationAssets,
  bootstrapPackages,
  eulas,
  logos,
  scepChallenges,
  mdmSolutions,
  hostMdm,
  portalKeys,
  abmTokens,
  setupAssistants,
  portalProfiles,
  portalDevices,
  vppTokens,
  vppTokenTeams,
  vppAssets,
  storeListings,
  storeApps,
  storeAppLabels,
  storeAppLicenses,
  storeAppInstalls,
  configurationProfiles,
  profileContents,
  profileLabels,
  hostProfiles,
  profileChallenges,
  applePushes,
  androidEnterprises,
  androidSignUps,
  androidDevices,
  androidMessages,
  androidPolicies,
  androidHostProfiles,
  androidCommandQueues,
  androidCommands,
  hostDiskEncryption,
  diskKeyHistory,
  recoveryLocks,
  managedAccounts,
  hostNames,
  hostBootstrap,
  munkiIssues,
  hostMunki,
  tasks,
  taskPayloads,
  taskHosts,
  approvals,
  approvalChoices,
  approvalTeams,
  dangerUses,
  plans,
  planContents,
  planScopes,
  historyHours,
  historySamples,
  historyCleared,
  vulnerableHosts,
  vulnerableSources,
  jobRuns,
  unusedRows,
};
