// The table of all endpoints. An endpoint that is not listed here does not exist.

import { abmApi } from "./abm.ts";
import { activitiesApi } from "./activities.ts";
import { androidApi, androidServiceApi } from "./android.ts";
import { appConfigApi } from "./app-config.ts";
import { appleChannelApi } from "./apple-channel.ts";
import {
  accountEnrollApi,
  appleEnrollApi,
  automaticEnrollApi,
  deviceEnrollApi,
  mdmSsoApi,
  otaEnrollApi,
} from "./apple-enroll.ts";
import { appleTrustApi } from "./apple-trust.ts";
import { approvalsApi } from "./approvals.ts";
import { assetsApi } from "./assets.ts";
import { bootstrapApi } from "./bootstrap.ts";
import { caApi } from "./ca.ts";
import { carvesApi } from "./carves.ts";
import { catalogueApi } from "./catalogue.ts";
import { certificateAgentApi, certificatesApi } from "./certificates.ts";
import { commandsApi } from "./commands.ts";
import { conditionalAccessApi, conditionalAccessIdpApi } from "./conditional-access.ts";
import { configurationApi } from "./configuration.ts";
import { desktopAppApi, deviceApi } from "./device.ts";
import { deviceCaApi } from "./device-ca.ts";
import { deviceInstallsApi } from "./device-installs.ts";
import { directoryApi } from "./directory.ts";
import { diskEncryptionApi } from "./disk-encryption.ts";
import type { AnyEndpoint } from "./endpoint.ts";
import { enrollSecretsApi } from "./enroll-secrets.ts";
import { eulaApi } from "./eula.ts";
import { hostActionsApi } from "./host-actions.ts";
import { hostActivitiesApi } from "./host-activities.ts";
import { hostDetailsApi } from "./host-details.ts";
import { hostIdentityApi } from "./host-identity.ts";
import { hostNamesApi } from "./host-names.ts";
import { hostPasswordsApi } from "./host-passwords.ts";
import { hostsApi } from "./hosts.ts";
import { inHouseAppsApi } from "./in-house-apps.ts";
import { invitesApi } from "./invites.ts";
import { jobsApi } from "./jobs.ts";
import { labelHostsApi } from "./label-hosts.ts";
import { labelsApi } from "./labels.ts";
import { liveQueriesApi } from "./live-queries.ts";
import { logoApi } from "./logo.ts";
import { mailApi } from "./mail.ts";
import { managedAgentApi } from "./managed-agent.ts";
import { agentFilesApi, newHostsApi } from "./new-hosts.ts";
import { olderApi } from "./older.ts";
import { osVersionsApi } from "./os-versions.ts";
import { packageBatchesApi } from "./package-batches.ts";
import { packagesApi } from "./packages.ts";
import { packsApi } from "./packs.ts";
import { policiesApi } from "./policies.ts";
import { deviceProfilesApi, profilesApi } from "./profiles.ts";
import { queriesApi } from "./queries.ts";
import { scepProxyApi } from "./scep-proxy.ts";
import { scheduleApi } from "./schedule.ts";
import { scimApi } from "./scim.ts";
import { scriptBatchesApi } from "./script-batches.ts";
import { scriptsApi } from "./scripts.ts";
import { selfServiceCategoriesApi, titleIconsApi } from "./self-service.ts";
import { sessionsApi } from "./sessions.ts";
import { setupApi } from "./setup.ts";
import { setupAssistantsApi } from "./setup-assistants.ts";
import { setupExperienceApi } from "./setup-experience.ts";
import { setupResultsApi } from "./setup-results.ts";
import { softwareApi } from "./software.ts";
import { softwareInstallsApi } from "./software-installs.ts";
import { ssoApi } from "./sso.ts";
import { storeAppsApi } from "./store-apps.ts";
import { targetsApi } from "./targets.ts";
import { tasksApi } from "./tasks.ts";
import { teamsApi } from "./teams.ts";
import { tokensApi } from "./tokens.ts";
import { translatorApi } from "./translator.ts";
import { uploadsApi } from "./uploads.ts";
import { usersApi } from "./users.ts";
import { hostVitalsApi, variablesApi } from "./variables.ts";
import { versionApi } from "./version.ts";
import { vppApi } from "./vpp.ts";
import { vulnerabilitiesApi } from "./vulnerabilities.ts";
import { webhooksApi } from "./webhooks.ts";
import { windowsChannelApi, windowsEnrollApi } from "./windows.ts";

export const groups: Record<string, Record<string, AnyEndpoint>> = {
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
  hosts: hostsApi,
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
  labels: { ...labelsApi, ...labelHostsApi },
  "live-queries": liveQueriesApi,
  mail: mailApi,
  packages: packagesApi,
  packs: packsApi,
  profiles: profilesApi,
  assets: assetsApi,
  queries: queriesApi,
  schedule: scheduleApi,
  policies: policiesApi,
  sessions: sessionsApi,
  setup: setupApi,
  sso: ssoApi,
  targets: targetsApi,
  tasks: tasksApi,
  teams: teamsApi,
  tokens: tokensApi,
  translator: translatorApi,
  uploads: uploadsApi,
  users: usersApi,
  variables: variablesApi,
  "host-vitals": hostVitalsApi,
  version: versionApi,
  webhooks: webhooksApi,
};

/**
 * Endpoints of the protocols of agents and devices. They need no token, and are not part of the API's description. The
 * query engine's own protocol is not among them: `server/agent/http` handles it before the application.
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
