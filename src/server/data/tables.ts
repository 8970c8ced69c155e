// Every table of the server, in an order in which rows can be created (tables that others refer to come first).
import { activities, activityChain } from "../activities/tables.ts";
import { configSections } from "../app-config/tables.ts";
import { appleVersionLists } from "../apple-versions/tables.ts";
import { approvalChoices, approvals, approvalTeams, dangerUses } from "../approvals/tables.ts";
import { certificateAuthorities } from "../ca/tables.ts";
import { calendarEvents } from "../calendar/tables.ts";
import { carves } from "../carves/tables.ts";
import { catalogueApps, catalogueOffers } from "../catalogue/tables.ts";
import { certificateTemplates, hostCertificates } from "../certificates/tables.ts";
import {
  conditionalAccessBypasses,
  conditionalAccessKeys,
  conditionalAccessRequests,
  directoryDevices,
  directoryReporting,
} from "../conditional-access/tables.ts";
import type { AllTables } from "../core/tables.ts";
import { deviceCas, deviceIdentities, scepChallenges } from "../device-ca/tables.ts";
import { deviceLinks } from "../device-links/tables.ts";
import { deviceTokens, macMigrations } from "../device-page/tables.ts";
import { deviceSessions, deviceSignIns } from "../device-sign-in/tables.ts";
import { directoryCredentials } from "../directory/tables.ts";
import { diskKeyHistory, hostDiskEncryption } from "../disk-encryption/tables.ts";
import { enrollSecrets, enrollTokens } from "../enroll-secrets/tables.ts";
import { fileOrigins, files } from "../files/tables.ts";
import { hostActions, scriptRuns } from "../host-actions/tables.ts";
import { hostUsage } from "../host-limits/tables.ts";
import { hostNames } from "../host-names/tables.ts";
import { managedAccounts, recoveryLocks } from "../host-passwords/tables.ts";
import { hostContacts, hostDetails, hostEmails, hostSeen, hosts, osVersions } from "../hosts/tables.ts";
import { installerLabels, softwareInstallers } from "../installers/tables.ts";
import { invites, inviteTeams } from "../invites/tables.ts";
import { jobRuns } from "../jobs/tables.ts";
import { labelMembers, labels } from "../labels/tables.ts";
import { campaignHosts, campaigns } from "../live-queries/tables.ts";
import { logos } from "../logo/tables.ts";
import { mailOptOuts, oneTimeTokens } from "../mail/tables.ts";
import { managedAgents, usedSignatures } from "../managed-agent/tables.ts";
import { androidCommandQueues, androidCommands } from "../mdm/android/commands/tables.ts";
import { androidDevices, androidMessages } from "../mdm/android/devices/tables.ts";
import { androidEnterprises, androidSignUps } from "../mdm/android/enterprise/tables.ts";
import { androidHostProfiles, androidPolicies } from "../mdm/android/policies/tables.ts";
import { appleEnrollments } from "../mdm/apple/channel/tables.ts";
import { appleUpdateReports, appleUpdates, declarationAssets } from "../mdm/apple/declarations/tables.ts";
import { endUserSignIns } from "../mdm/apple/enroll/tables.ts";
import { abmTokens, portalDevices, portalKeys, portalProfiles, setupAssistants } from "../mdm/apple/portal/tables.ts";
import { applePushes } from "../mdm/apple/push/tables.ts";
import { appleSetups, bootstrapPackages, eulas } from "../mdm/apple/setup/tables.ts";
import { applePushCertificates, applePushRequests } from "../mdm/apple/trust/tables.ts";
import { mdmCommands } from "../mdm/commands/tables.ts";
import { expiryNotices } from "../mdm/expiry/tables.ts";
import {
  configurationProfiles,
  hostProfiles,
  profileChallenges,
  profileContents,
  profileLabels,
} from "../mdm/profiles/tables.ts";
import { windowsEnrollments, windowsNonces } from "../mdm/windows/channel/tables.ts";
import { windowsProfileNodes } from "../mdm/windows/profiles/tables.ts";
import { windowsSignIns, windowsUsedTokens } from "../mdm/windows/sign-in/tables.ts";
import { windowsStartupPins } from "../mdm/windows/startup-pin/tables.ts";
import { windowsUpdates } from "../mdm/windows/updates/tables.ts";
import { hostBootstrap, hostMdm, mdmSolutions } from "../mdm-status/tables.ts";
import { hostMunki, munkiIssues } from "../munki/tables.ts";
import { agentSigningKeys } from "../new-hosts/tables.ts";
import { operationContents, operations } from "../operations/tables.ts";
import { hostSettings } from "../os-settings/tables.ts";
import { outbox } from "../outbox/tables.ts";
import { packageBatches } from "../package-batches/tables.ts";
import { packs, packTargets, scheduledQueries } from "../packs/tables.ts";
import {
  hostPolicies,
  policies,
  policyCountChanges,
  policyEvents,
  policyInstalls,
  policyLabels,
} from "../policies/tables.ts";
import { policyMailStates } from "../policy-mails/tables.ts";
import { queries, queryLabels, queryResults } from "../queries/tables.ts";
import { queryErrors } from "../query-errors/tables.ts";
import { rateLimits } from "../rate-limits/tables.ts";
import { policyResultIds } from "../result-ids/tables.ts";
import { hostEndUsers, scimGroups, scimLogins, scimMembers, scimRequests, scimUsers } from "../scim/tables.ts";
import { scriptTexts } from "../script-texts/tables.ts";
import { scriptBatches, scriptBatchHosts, scriptExecutions, scripts } from "../scripts/tables.ts";
import { serverSecrets } from "../secrets/tables.ts";
import { selfServiceCategories, titleIcons } from "../self-service/tables.ts";
import { sessions } from "../sessions/tables.ts";
import { hostSetupItems, hostSetups, setupScripts } from "../setup-experience/tables.ts";
import {
  hostSoftware,
  software,
  softwareCountChanges,
  softwareCountState,
  softwareInstalls,
  softwareTitleCounts,
  softwareTitles,
  softwareVersionCounts,
} from "../software/tables.ts";
import {
  osCves,
  softwareCves,
  vulnerabilities,
  vulnerabilityCountChanges,
  vulnerabilityCountState,
  vulnerabilityCounts,
} from "../software/vulnerabilities/tables.ts";
import { softwareInstallRuns } from "../software-installs/tables.ts";
import { ssoAssertions, ssoSessions } from "../sso/tables.ts";
import {
  storeAppInstalls,
  storeAppLabels,
  storeAppLicences,
  storeApps,
  storeListings,
  vppAssets,
  vppTokens,
  vppTokenTeams,
} from "../store-apps/tables.ts";
import { taskPayloads, tasks } from "../tasks/tables.ts";
import { teams } from "../teams/tables.ts";
import { unusedRows } from "../unused-rows/tables.ts";
import { uploadPieces, uploads } from "../uploads/tables.ts";
import { users, userTeams } from "../users/tables.ts";
import { customHostVitals, customVariables, hostVitalValues } from "../variables/tables.ts";
import { vulnerabilityFeeds } from "../vulnerabilities/feeds/tables.ts";
import { vulnerabilityMatching } from "../vulnerabilities/matching/tables.ts";
import { seenCves, webhookDestinations, webhookMarks } from "../webhooks/tables.ts";

export const tables: AllTables = {
  teams,
  users,
  userTeams,
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
  storeAppLicences,
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
  approvals,
  approvalChoices,
  approvalTeams,
  dangerUses,
  jobRuns,
  unusedRows,
};
