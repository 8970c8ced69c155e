// The table of all endpoints. An endpoint that is not listed here does not exist.

import { invitesApi } from "./accounts/invites.ts";
import { sessionsApi } from "./accounts/sessions.ts";
import { ssoApi } from "./accounts/sso.ts";
import { tokensApi } from "./accounts/tokens.ts";
import { usersApi } from "./accounts/users.ts";
import { conditionalAccessApi, conditionalAccessIdpApi } from "./automations/conditional-access.ts";
import { webhooksApi } from "./automations/webhooks.ts";
import { caApi } from "./certificates/ca.ts";
import { certificateAgentApi, certificatesApi } from "./certificates/certificates.ts";
import { deviceCaApi } from "./certificates/device-ca.ts";
import { scepProxyApi } from "./certificates/scep-proxy.ts";
import { agentTablesApi } from "./checks/agent-tables.ts";
import { carvesApi } from "./checks/carves.ts";
import { packsApi } from "./checks/packs.ts";
import { policiesApi } from "./checks/policies.ts";
import { queriesApi } from "./checks/queries.ts";
import { scheduleApi } from "./checks/schedule.ts";
import { hostIdentityApi } from "./delivery/host-identity.ts";
import { inHouseAppsApi } from "./delivery/in-house-apps.ts";
import { managedAgentApi } from "./delivery/managed-agent.ts";
import { agentFilesApi, newHostsApi } from "./delivery/new-hosts.ts";
import { policyRunsApi } from "./delivery/policy-runs.ts";
import { scriptBatchesApi } from "./delivery/script-batches.ts";
import { scriptsApi } from "./delivery/scripts.ts";
import { setupExperienceApi } from "./delivery/setup-experience.ts";
import { setupResultsApi } from "./delivery/setup-results.ts";
import { softwareInstallsApi } from "./delivery/software-installs.ts";
import { storeAppsApi } from "./delivery/store-apps.ts";
import { vppApi } from "./delivery/vpp.ts";
import { abmApi } from "./devices/abm.ts";
import { androidApi, androidServiceApi } from "./devices/android.ts";
import { appleChannelApi } from "./devices/apple-channel.ts";
import {
  accountEnrollApi,
  appleEnrollApi,
  automaticEnrollApi,
  deviceEnrollApi,
  mdmSsoApi,
  otaEnrollApi,
} from "./devices/apple-enroll.ts";
import { appleTrustApi } from "./devices/apple-trust.ts";
import { assetsApi } from "./devices/assets.ts";
import { bootstrapApi } from "./devices/bootstrap.ts";
import { commandsApi } from "./devices/commands.ts";
import { diskEncryptionApi } from "./devices/disk-encryption.ts";
import { eulaApi } from "./devices/eula.ts";
import { hostNamesApi } from "./devices/host-names.ts";
import { hostPasswordsApi } from "./devices/host-passwords.ts";
import { olderApi } from "./devices/older.ts";
import { deviceProfilesApi, profilesApi } from "./devices/profiles.ts";
import { setupAssistantsApi } from "./devices/setup-assistants.ts";
import { windowsChannelApi, windowsEnrollApi } from "./devices/windows.ts";
import { configurationApi } from "./edge/configuration.ts";
import { desktopAppApi, deviceApi } from "./edge/device.ts";
import { deviceInstallsApi } from "./edge/device-installs.ts";
import { plansApi } from "./edge/plans.ts";
import { reportsApi } from "./edge/reports.ts";
import { searchApi } from "./edge/search.ts";
import type { AnyEndpoint } from "./endpoint.ts";
import { approvalsApi } from "./hosts/approvals.ts";
import { directoryApi } from "./hosts/directory.ts";
import { hostActionsApi } from "./hosts/host-actions.ts";
import { hostActivitiesApi } from "./hosts/host-activities.ts";
import { labelEffectsApi } from "./hosts/label-effects.ts";
import { labelsApi } from "./hosts/labels.ts";
import { operationsApi } from "./hosts/operations.ts";
import { scimApi } from "./hosts/scim.ts";
import { bulkActionsApi } from "./inventory/bulk-actions.ts";
import { chartsApi } from "./inventory/charts.ts";
import { hostDetailsApi } from "./inventory/host-details.ts";
import { hostsApi } from "./inventory/hosts.ts";
import { labelHostsApi } from "./inventory/label-hosts.ts";
import { liveQueriesApi } from "./inventory/live-queries.ts";
import { selectorsApi } from "./inventory/selectors.ts";
import { targetsApi } from "./inventory/targets.ts";
import { translatorApi } from "./inventory/translator.ts";
import { activitiesApi } from "./platform/activities.ts";
import { jobsApi } from "./platform/jobs.ts";
import { tasksApi } from "./platform/tasks.ts";
import { uploadsApi } from "./platform/uploads.ts";
import { appConfigApi } from "./settings/app-config.ts";
import { enrollSecretsApi } from "./settings/enroll-secrets.ts";
import { logoApi } from "./settings/logo.ts";
import { mailApi } from "./settings/mail.ts";
import { setupApi } from "./settings/setup.ts";
import { teamsApi } from "./settings/teams.ts";
import { hostVitalsApi, variablesApi } from "./settings/variables.ts";
import { versionApi } from "./settings/version.ts";
import { viewsApi } from "./settings/views.ts";
import { catalogueApi } from "./software/catalogue.ts";
import { osVersionsApi } from "./software/os-versions.ts";
import { packageBatchesApi } from "./software/package-batches.ts";
import { packagesApi } from "./software/packages.ts";
import { selfServiceCategoriesApi, titleIconsApi } from "./software/self-service.ts";
import { softwareApi } from "./software/software.ts";
import { vulnerabilitiesApi } from "./software/vulnerabilities.ts";

const groups: Record<string, Record<string, AnyEndpoint>> = {
  abm: abmApi,
  vpp: vppApi,
  "setup-assistants": setupAssistantsApi,
  "setup-experience": setupExperienceApi,
  bootstrap: bootstrapApi,
  eula: eulaApi,
  activities: activitiesApi,
  android: androidApi,
  "app-config": appConfigApi,
  approvals: approvalsApi,
  tables: agentTablesApi,
  carves: carvesApi,
  "apple-enroll": appleEnrollApi,
  "apple-trust": appleTrustApi,
  "certificate-authorities": caApi,
  certificates: certificatesApi,
  commands: commandsApi,
  "conditional-access": conditionalAccessApi,
  configuration: configurationApi,
  device: { ...deviceApi, ...deviceInstallsApi, ...deviceProfilesApi, ...deviceEnrollApi },
  "setup-results": setupResultsApi,
  "enroll-secrets": enrollSecretsApi,
  "new-hosts": newHostsApi,
  "host-details": hostDetailsApi,
  "host-actions": hostActionsApi,
  "host-names": hostNamesApi,
  "host-passwords": hostPasswordsApi,
  logo: logoApi,
  "host-activities": hostActivitiesApi,
  operations: operationsApi,
  hosts: hostsApi,
  "bulk-actions": bulkActionsApi,
  invites: invitesApi,
  jobs: jobsApi,
  older: olderApi,
  "os-versions": osVersionsApi,
  "disk-encryption": diskEncryptionApi,
  software: softwareApi,
  "software-installs": softwareInstallsApi,
  vulnerabilities: vulnerabilitiesApi,
  catalogue: catalogueApi,
  "package-batches": packageBatchesApi,
  "store-apps": storeAppsApi,
  scim: scimApi,
  directory: directoryApi,
  scripts: scriptsApi,
  "self-service-categories": selfServiceCategoriesApi,
  "title-icons": titleIconsApi,
  "script-batches": scriptBatchesApi,
  labels: { ...labelsApi, ...labelEffectsApi, ...labelHostsApi },
  "live-queries": liveQueriesApi,
  mail: mailApi,
  packages: packagesApi,
  packs: packsApi,
  profiles: profilesApi,
  assets: assetsApi,
  queries: queriesApi,
  schedule: scheduleApi,
  policies: policiesApi,
  "policy-runs": policyRunsApi,
  reports: reportsApi,
  plans: plansApi,
  charts: chartsApi,
  search: searchApi,
  sessions: sessionsApi,
  setup: setupApi,
  sso: ssoApi,
  targets: targetsApi,
  tasks: tasksApi,
  teams: teamsApi,
  tokens: tokensApi,
  selectors: selectorsApi,
  translator: translatorApi,
  uploads: uploadsApi,
  users: usersApi,
  variables: variablesApi,
  "host-vitals": hostVitalsApi,
  version: versionApi,
  views: viewsApi,
  webhooks: webhooksApi,
};

/**
 * Endpoints of the protocols of agents and devices. They need no token, and are not part of the API's description. The
 * query engine's own protocol is not among them: `src/server/edge/agent/http` handles it before the application.
 */
export const protocols: Record<string, Record<string, AnyEndpoint>> = {
  "managed agent": managedAgentApi,
  "host identities": hostIdentityApi,
  "files for new hosts": agentFilesApi,
  "desktop app": desktopAppApi,
  "certificates for agents": certificateAgentApi,
  "SCEP proxy": scepProxyApi,
  "device CA": deviceCaApi,
  "conditional access": conditionalAccessIdpApi,
  "Apple devices": appleChannelApi,
  "automatic enrollment": automaticEnrollApi,
  "enrollment over the air": otaEnrollApi,
  "sign-in during enrollment": mdmSsoApi,
  "account-driven enrollment": accountEnrollApi,
  "enrollment of Windows devices": windowsEnrollApi,
  "Windows devices": windowsChannelApi,
  "messages about Android devices": androidServiceApi,
  "in-house apps": inHouseAppsApi,
};

/** Every endpoint with its operation name, e.g. `hosts.list`. */
export const allEndpoints: readonly { name: string; group: string; endpoint: AnyEndpoint }[] = Object.entries(
  groups,
).flatMap(([group, endpoints]) =>
  Object.entries(endpoints).map(([key, endpoint]) => ({ name: `${group}.${key}`, group, endpoint })),
);
