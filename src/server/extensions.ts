// Who does what features ask of those that they do not know.

import { endAccess } from "./automations/conditional-access/certificates.ts";
import { compareDevices, directoryDeviceInventory } from "./automations/conditional-access/compliance/inventory.ts";
import { deliverMail } from "./automations/policy-mails/deliver.ts";
import { activityRequests } from "./automations/webhooks/activities.ts";
import { deliverWebhook } from "./automations/webhooks/deliver.ts";
import { endChallenges } from "./certificates/certificates/challenges.ts";
import { certificateInventory } from "./certificates/certificates/inventory.ts";
import { scheduleInventory } from "./checks/packs/inventory.ts";
import { storeCritical } from "./checks/policies/critical.ts";
import { forgetForeignResults } from "./checks/policies/results.ts";
import { managedAgentInventory } from "./delivery/managed-agent/inventory.ts";
import { runScript } from "./delivery/scripts/kind.ts";
import { scriptsUseVariables } from "./delivery/scripts/variables.ts";
import { softwareStep } from "./delivery/setup-experience/device-step.ts";
import { setupScriptsUseVariables } from "./delivery/setup-experience/script.ts";
import { dropPendingInstalls, installsFollowPackages } from "./delivery/software-installs/edits.ts";
import { inHouseInstall, inHouseListener } from "./delivery/software-installs/in-house.ts";
import { softwareInstall, softwareUninstall } from "./delivery/software-installs/kinds.ts";
import { countInstalls, packagesForHost } from "./delivery/software-installs/view.ts";
import { storeAppOffer } from "./delivery/store-apps/apps.ts";
import {
  installMetadata,
  storeAppCommand,
  storeAppListener,
  storeAppVerification,
} from "./delivery/store-apps/commands.ts";
import { appsForHost } from "./delivery/store-apps/host-offers.ts";
import { inHouseCommand, inHouseInstallCommand } from "./delivery/store-apps/in-house.ts";
import { storeAppInstall } from "./delivery/store-apps/installs.ts";
import { storeAppOffers } from "./delivery/store-apps/offers.ts";
import { storeAppExtras } from "./delivery/store-apps/title-extras.ts";
import { androidActionKinds, androidDeliverer } from "./devices/android/actions/deliverer.ts";
import {
  androidLeave,
  askToLeave as askAndroidToLeave,
  endActions as endAndroidActions,
  endDeviceRequests as endAndroidRequests,
} from "./devices/android/actions/leave.ts";
import { takeCommandMessage } from "./devices/android/commands/answers.ts";
import { androidCommands, androidCustomCommand } from "./devices/android/commands/custom.ts";
import { endAllDevices } from "./devices/android/devices/enroll.ts";
import { playApp } from "./devices/android/enterprise/applications.ts";
import { androidPlatform } from "./devices/android/policies/platform.ts";
import { appleClearPasscode } from "./devices/apple/actions/clear-passcode.ts";
import { appleCommands, appleCustomCommand } from "./devices/apple/actions/custom.ts";
import { appleDeliverer } from "./devices/apple/actions/deliverer.ts";
import { appleActionKinds } from "./devices/apple/actions/kinds.ts";
import { appleLeave, askToLeave } from "./devices/apple/actions/leave.ts";
import { appleActionListener, endDeviceRequests } from "./devices/apple/actions/listener.ts";
import {
  countOtherServers,
  countOtherTopics,
  enrolledDevices,
  enrolledHosts,
} from "./devices/apple/channel/devices.ts";
import { appleDeclarationCommand } from "./devices/apple/declarations/command.ts";
import { declarativeManagement } from "./devices/apple/declarations/session.ts";
import { appleUpdateListener } from "./devices/apple/declarations/updates.ts";
import { appleDetails, appleDetailsListener, requestDetails } from "./devices/apple/details/commands.ts";
import { readDetails } from "./devices/apple/details/ingest.ts";
import { endUserListener } from "./devices/apple/enroll/end-users.ts";
import { appleRenewal, renewalCommand } from "./devices/apple/enroll/renewal.ts";
import { filevaultInventory, readSecurityInfo, securityInfo } from "./devices/apple/filevault/key.ts";
import { deviceNameListener, readDeviceName, setDeviceName } from "./devices/apple/names/device-name.ts";
import { findAccount, managedAccountListener, setAccountPassword } from "./devices/apple/passwords/managed-account.ts";
import { recoveryLockListener, setRecoveryLock, verifyRecoveryLock } from "./devices/apple/passwords/recovery-lock.ts";
import { assignedHosts } from "./devices/apple/portal/devices.ts";
import { appleProfileCommand, profileCommand } from "./devices/apple/profiles/commands.ts";
import { profileInventory } from "./devices/apple/profiles/inventory.ts";
import { applePlatform } from "./devices/apple/profiles/platform.ts";
import { accountCommand, accountStep } from "./devices/apple/setup/account.ts";
import { bootstrapCommand, bootstrapListener, bootstrapStep } from "./devices/apple/setup/bootstrap.ts";
import { releaseCommand, setupListener } from "./devices/apple/setup/release.ts";
import { profilesStep } from "./devices/apple/setup/steps.ts";
import { deviceCaEnd, pushCertificateEnd } from "./devices/apple/trust/ends.ts";
import { pushCertificate } from "./devices/apple/trust/service.ts";
import { hostNamesUseVariables } from "./devices/host-names/uses.ts";
import { forgetPasswords } from "./devices/host-passwords/rows.ts";
import { profilesUseVariables } from "./devices/profiles/uses.ts";
import {
  askToLeave as askWindowsToLeave,
  endDeviceRequests as endWindowsRequests,
  windowsLeave,
} from "./devices/windows/actions/leave.ts";
import { windowsActionListener, windowsWipe, windowsWiper } from "./devices/windows/actions/wipe.ts";
import { windowsCommands, windowsCustomCommand } from "./devices/windows/commands/custom.ts";
import { joinListener } from "./devices/windows/joins/joins.ts";
import { windowsSerialCommand } from "./devices/windows/joins/serial.ts";
import {
  windowsObsoleteNodes,
  windowsProfileCommand,
  windowsProfileContent,
} from "./devices/windows/profiles/commands.ts";
import { windowsProfileInventory } from "./devices/windows/profiles/inventory.ts";
import { windowsPlatform } from "./devices/windows/profiles/platform.ts";
import { finishWindowsSignIn } from "./devices/windows/sign-in/sign-in.ts";
import { startupPinListener, startupPinPolicy } from "./devices/windows/startup-pin/startup-pin.ts";
import { windowsDeadlines } from "./devices/windows/updates/commands.ts";
import { windowsUpdateListener } from "./devices/windows/updates/updates.ts";
import { endDeviceSessions } from "./edge/device-sign-in/session.ts";
import { finishDeviceSignIn } from "./edge/device-sign-in/sign-in.ts";
import { diskEncryptionInventory } from "./hosts/disk-encryption/inventory.ts";
import { forgetDiskKeys } from "./hosts/disk-encryption/keys.ts";
import { bitlockerPinInventory } from "./hosts/disk-encryption/pin.ts";
import { actNow } from "./hosts/host-actions/actions.ts";
import { hostActionKinds, scriptKind } from "./hosts/host-actions/kinds.ts";
import { scriptDeliverer } from "./hosts/host-actions/script-deliverer.ts";
import { batteryInventory } from "./hosts/hosts/inventory/batteries.ts";
import { browserEmailInventory } from "./hosts/hosts/inventory/browser-emails.ts";
import { userInventory } from "./hosts/hosts/inventory/users.ts";
import { labelsUseVitals } from "./hosts/labels/vital-uses.ts";
import { mdmInventory } from "./hosts/mdm-status/ingest.ts";
import { munkiSource } from "./hosts/munki/ingest.ts";
import type { OperationKind } from "./hosts/operations/kind.ts";
import { endDeviceTokens } from "./inventory/device-tokens/tokens.ts";
import { chosenIds } from "./inventory/host-list/chosen.ts";
import { deleteInSteps } from "./inventory/host-list/delete.ts";
import { windowsServers } from "./inventory/host-list/selector/mdm.ts";
import { compileWhere } from "./inventory/host-list/selector/where.ts";
import type { Extensions } from "./platform/core/extensions.ts";
import { referencesToFiles } from "./platform/files/service.ts";
import { routes } from "./routes.ts";
import { dropIntegrations } from "./settings/teams/integrations.ts";
import { deliverTicket } from "./settings/tickets/deliver.ts";
import { offeredApp, patchFollows } from "./software/catalogue/patching.ts";
import { pinVersion } from "./software/catalogue/updates.ts";
import { packageOffers } from "./software/installers/offers.ts";
import { installersUseVariables } from "./software/installers/scripts.ts";
import { packageExtras } from "./software/installers/title-extras.ts";
import { iconExtras, ownIcons } from "./software/self-service/icon-rows.ts";
import { softwareInventory } from "./software/software/ingest.ts";
import { referencesToTitles } from "./software/software/titles/titles.ts";
import { isMatchingAll } from "./software/vulnerabilities/matching/run.ts";
import { tables } from "./tables.ts";

const byName = (kinds: readonly OperationKind[]) => Object.fromEntries(kinds.map((kind) => [kind.name, kind]));

export const extensions: Extensions = {
  activityRequests,
  approvedActs: {
    hosts: chosenIds,
    wipe: (ctx, host, wipeType) => actNow(ctx, host, "wipe", wipeType ? { wipeType } : {}),
    remove: deleteInSteps,
  },
  deliveries: { webhook: deliverWebhook, ticket: deliverTicket, mail: deliverMail },
  dropEntrusted: [
    endDeviceTokens,
    endDeviceSessions,
    endAccess,
    endChallenges,
    forgetDiskKeys,
    endDeviceRequests,
    endWindowsRequests,
    endAndroidRequests,
    forgetPasswords,
    dropPendingInstalls,
    ({ store }, hostIds) => forgetForeignResults(store, hostIds),
  ],
  gatingResultsChanged: compareDevices,
  fileReferences: referencesToFiles(Object.values(tables)),
  hostActionDeliverers: [scriptDeliverer, appleDeliverer, windowsWiper, androidDeliverer],
  appleCommandsMadeLate: {
    [appleProfileCommand.name]: profileCommand,
    [appleRenewal.name]: renewalCommand,
    [inHouseCommand.name]: inHouseInstallCommand,
  },
  hostsWithoutStatus: windowsServers,
  windowsCommandsMadeLate: { [windowsProfileCommand.name]: windowsProfileContent },
  hostsOfHardware: [enrolledHosts, assignedHosts],
  hostsWhere: compileWhere,
  integrationsChanged: dropIntegrations,
  inventory: [
    userInventory,
    softwareInventory,
    diskEncryptionInventory,
    bitlockerPinInventory,
    batteryInventory,
    mdmInventory,
    profileInventory,
    windowsProfileInventory,
    filevaultInventory,
    munkiSource,
    browserEmailInventory,
    certificateInventory,
    managedAgentInventory,
    scheduleInventory,
    directoryDeviceInventory,
  ],
  appleDevices: [
    endUserListener,
    appleDetailsListener,
    appleActionListener,
    appleUpdateListener,
    bootstrapListener,
    recoveryLockListener,
    managedAccountListener,
    deviceNameListener,
    setupListener,
    inHouseListener,
    storeAppListener,
  ],
  appleReaders: { [appleDetails.name]: readDetails, [securityInfo.name]: readSecurityInfo },
  appleMessages: { DeclarativeManagement: declarativeManagement },
  askToLeave: [askToLeave, askWindowsToLeave, askAndroidToLeave],
  windowsDevices: [windowsActionListener, windowsUpdateListener, startupPinListener, joinListener],
  deviceCallbacks: [finishDeviceSignIn, finishWindowsSignIn],
  commandPlatforms: [appleCommands, windowsCommands, androidCommands],
  appleSetupSteps: [bootstrapStep, profilesStep, accountStep, softwareStep],
  profilePlatforms: [windowsPlatform, applePlatform, androidPlatform],
  androidMessages: { COMMAND: takeCommandMessage },
  androidLeft: [endAndroidActions],
  androidTurnedOff: [endAllDevices],
  pushDevices: { ...enrolledDevices, certificate: pushCertificate },
  expiring: [pushCertificateEnd, deviceCaEnd],
  enrolledWithOtherTopic: countOtherTopics,
  enrolledWithOtherUrl: countOtherServers,
  operationKinds: {
    [appleCustomCommand.name]: appleCustomCommand,
    [windowsCustomCommand.name]: windowsCustomCommand,
    [windowsProfileCommand.name]: windowsProfileCommand,
    [windowsObsoleteNodes.name]: windowsObsoleteNodes,
    [windowsDeadlines.name]: windowsDeadlines,
    [startupPinPolicy.name]: startupPinPolicy,
    [windowsSerialCommand.name]: windowsSerialCommand,
    [appleProfileCommand.name]: appleProfileCommand,
    [appleRenewal.name]: appleRenewal,
    [appleDeclarationCommand.name]: appleDeclarationCommand,
    [securityInfo.name]: securityInfo,
    [bootstrapCommand.name]: bootstrapCommand,
    [accountCommand.name]: accountCommand,
    [releaseCommand.name]: releaseCommand,
    ...byName([setRecoveryLock, verifyRecoveryLock, findAccount, setAccountPassword, setDeviceName, readDeviceName]),
    ...hostActionKinds,
    ...byName([
      ...Object.values(appleActionKinds),
      appleLeave,
      appleClearPasscode,
      appleDetails,
      windowsLeave,
      windowsWipe,
      androidCustomCommand,
      ...Object.values(androidActionKinds),
      androidLeave,
      storeAppInstall,
      storeAppCommand,
      storeAppVerification,
    ]),
    ...byName([softwareInstall, softwareUninstall, inHouseInstall, inHouseCommand]),
    script: scriptKind,
    [runScript.name]: runScript,
  },
  requestDetails: [requestDetails],
  routes,
  resultsMetadata: [installMetadata],
  offeredApp,
  otherOffers: [storeAppOffer],
  pinPackage: pinVersion,
  playApp,
  installCounts: countInstalls,
  isMatchingAll,
  installerListeners: [installsFollowPackages, patchFollows],
  hostOffers: [packagesForHost, appsForHost],
  ownIcons,
  storeCritical,
  titleExtras: [packageExtras, storeAppExtras, iconExtras],
  titleOffers: [packageOffers, storeAppOffers],
  titleReferences: referencesToTitles(Object.values(tables)),
  variableUsers: [
    profilesUseVariables,
    scriptsUseVariables,
    setupScriptsUseVariables,
    installersUseVariables,
    hostNamesUseVariables,
    labelsUseVitals,
  ],
};
