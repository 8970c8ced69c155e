// Who does what features ask of those that they do not know.

import { offeredApp, patchFollows } from "./catalogue/patching.ts";
import { pinVersion } from "./catalogue/updates.ts";
import { certificateInventory } from "./certificates/inventory.ts";
import { endChallenges } from "./certificates/scep-proxy.ts";
import { endAccess } from "./conditional-access/certificates.ts";
import { compareDevices, directoryDeviceInventory } from "./conditional-access/compliance/inventory.ts";
import type { Extensions } from "./core/extensions.ts";
import { tables } from "./data/tables.ts";
import { endDeviceTokens } from "./device-page/tokens.ts";
import { finishDeviceSignIn } from "./device-sign-in/sign-in.ts";
import { diskEncryptionInventory } from "./disk-encryption/inventory.ts";
import { forgetDiskKeys } from "./disk-encryption/keys.ts";
import { bitlockerPinInventory } from "./disk-encryption/pin.ts";
import { referencesToFiles } from "./files/service.ts";
import { actNow } from "./host-actions/actions.ts";
import { hostActionKinds, scriptKind } from "./host-actions/kinds.ts";
import { scriptDeliverer } from "./host-actions/script-deliverer.ts";
import { chosenIds } from "./host-list/chosen.ts";
import { deleteInSteps } from "./host-list/delete.ts";
import { windowsServers } from "./host-list/selector/mdm.ts";
import { compileWhere } from "./host-list/selector/where.ts";
import { hostNamesUseVariables } from "./host-names/uses.ts";
import { forgetPasswords } from "./host-passwords/rows.ts";
import { batteryInventory } from "./hosts/inventory/batteries.ts";
import { browserEmailInventory } from "./hosts/inventory/browser-emails.ts";
import { userInventory } from "./hosts/inventory/users.ts";
import { packageOffers } from "./installers/offers.ts";
import { installersUseVariables } from "./installers/scripts.ts";
import { packageExtras } from "./installers/title-extras.ts";
import { labelsUseVitals } from "./labels/vital-uses.ts";
import { managedAgentInventory } from "./managed-agent/inventory.ts";
import { endAgentKeys } from "./managed-agent/rows.ts";
import { androidActionKinds, androidDeliverer } from "./mdm/android/actions/deliverer.ts";
import {
  androidLeave,
  askToLeave as askAndroidToLeave,
  endActions as endAndroidActions,
  endDeviceRequests as endAndroidRequests,
} from "./mdm/android/actions/leave.ts";
import { takeCommandMessage } from "./mdm/android/commands/answers.ts";
import { androidCommands, androidCustomCommand } from "./mdm/android/commands/custom.ts";
import { endAllDevices } from "./mdm/android/devices/enroll.ts";
import { playApp } from "./mdm/android/enterprise/applications.ts";
import { androidPlatform } from "./mdm/android/policies/platform.ts";
import { appleClearPasscode } from "./mdm/apple/actions/clear-passcode.ts";
import { appleCommands, appleCustomCommand } from "./mdm/apple/actions/custom.ts";
import { appleDeliverer } from "./mdm/apple/actions/deliverer.ts";
import { appleActionKinds } from "./mdm/apple/actions/kinds.ts";
import { appleLeave, askToLeave } from "./mdm/apple/actions/leave.ts";
import { appleActionListener, endDeviceRequests } from "./mdm/apple/actions/listener.ts";
import { countOtherServers, countOtherTopics, enrolledDevices, enrolledHosts } from "./mdm/apple/channel/devices.ts";
import { appleDeclarationCommand } from "./mdm/apple/declarations/command.ts";
import { declarativeManagement } from "./mdm/apple/declarations/session.ts";
import { appleUpdateListener } from "./mdm/apple/declarations/updates.ts";
import { appleDetails, appleDetailsListener, requestDetails } from "./mdm/apple/details/commands.ts";
import { readDetails } from "./mdm/apple/details/ingest.ts";
import { endUserListener } from "./mdm/apple/enroll/end-users.ts";
import { appleRenewal, renewalCommand } from "./mdm/apple/enroll/renewal.ts";
import { filevaultInventory, openDiskKey, readSecurityInfo, securityInfo } from "./mdm/apple/filevault/key.ts";
import { deviceNameListener, readDeviceName, setDeviceName } from "./mdm/apple/names/device-name.ts";
import { findAccount, managedAccountListener, setAccountPassword } from "./mdm/apple/passwords/managed-account.ts";
import { recoveryLockListener, setRecoveryLock, verifyRecoveryLock } from "./mdm/apple/passwords/recovery-lock.ts";
import { assignedHosts } from "./mdm/apple/portal/devices.ts";
import { appleProfileCommand, profileCommand } from "./mdm/apple/profiles/commands.ts";
import { profileInventory } from "./mdm/apple/profiles/inventory.ts";
import { applePlatform } from "./mdm/apple/profiles/platform.ts";
import { accountCommand, accountStep } from "./mdm/apple/setup/account.ts";
import { bootstrapCommand, bootstrapListener, bootstrapStep } from "./mdm/apple/setup/bootstrap.ts";
import { releaseCommand, setupListener } from "./mdm/apple/setup/release.ts";
import { appleSetupWait, softwareStep } from "./mdm/apple/setup/software.ts";
import { profilesStep } from "./mdm/apple/setup/steps.ts";
import { deviceCaEnd, pushCertificateEnd } from "./mdm/apple/trust/ends.ts";
import { pushCertificate } from "./mdm/apple/trust/service.ts";
import { diskEncryptionNotices } from "./mdm/disk-encryption/notices.ts";
import { profilesUseVariables } from "./mdm/profiles/uses.ts";
import {
  askToLeave as askWindowsToLeave,
  endDeviceRequests as endWindowsRequests,
  windowsLeave,
} from "./mdm/windows/actions/leave.ts";
import { windowsActionListener, windowsWipe, windowsWiper } from "./mdm/windows/actions/wipe.ts";
import { windowsCommands, windowsCustomCommand } from "./mdm/windows/commands/custom.ts";
import { joinListener } from "./mdm/windows/joins/joins.ts";
import { windowsSerialCommand } from "./mdm/windows/joins/serial.ts";
import { windowsNotices } from "./mdm/windows/notices/notices.ts";
import { windowsObsoleteNodes, windowsProfileCommand, windowsProfileContent } from "./mdm/windows/profiles/commands.ts";
import { windowsProfileInventory } from "./mdm/windows/profiles/inventory.ts";
import { windowsPlatform } from "./mdm/windows/profiles/platform.ts";
import { finishWindowsSignIn } from "./mdm/windows/sign-in/sign-in.ts";
import { startupPinListener, startupPinPolicy } from "./mdm/windows/startup-pin/startup-pin.ts";
import { windowsDeadlines } from "./mdm/windows/updates/commands.ts";
import { windowsUpdateListener } from "./mdm/windows/updates/updates.ts";
import { mdmInventory } from "./mdm-status/ingest.ts";
import { munkiSource } from "./munki/ingest.ts";
import type { OperationKind } from "./operations/kind.ts";
import { scheduleInventory } from "./packs/inventory.ts";
import { storeCritical } from "./policies/critical.ts";
import { forgetForeignResults } from "./policies/results.ts";
import { deliverMail } from "./policy-mails/deliver.ts";
import { routes } from "./routes.ts";
import { runScript } from "./scripts/kind.ts";
import { scriptsUseVariables } from "./scripts/variables.ts";
import { iconExtras, ownIcons } from "./self-service/icon-rows.ts";
import { setupScriptsUseVariables } from "./setup-experience/script.ts";
import { softwareInventory } from "./software/ingest.ts";
import { referencesToTitles } from "./software/titles/titles.ts";
import { dropPendingInstalls, installsFollowPackages } from "./software-installs/edits.ts";
import { inHouseInstall, inHouseListener } from "./software-installs/in-house.ts";
import { softwareInstall, softwareUninstall } from "./software-installs/kinds.ts";
import { countInstalls, packagesForHost } from "./software-installs/view.ts";
import { storeAppOffer } from "./store-apps/apps.ts";
import { installMetadata, storeAppCommand, storeAppListener, storeAppVerification } from "./store-apps/commands.ts";
import { appsForHost } from "./store-apps/host-offers.ts";
import { inHouseCommand, inHouseInstallCommand } from "./store-apps/in-house.ts";
import { storeAppInstall } from "./store-apps/installs.ts";
import { storeAppOffers } from "./store-apps/offers.ts";
import { storeAppExtras } from "./store-apps/title-extras.ts";
import { dropIntegrations } from "./teams/integrations.ts";
import { deliverTicket } from "./tickets/deliver.ts";
import { isMatchingAll } from "./vulnerabilities/matching/run.ts";
import { activityRequests } from "./webhooks/activities.ts";
import { deliverWebhook } from "./webhooks/deliver.ts";

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
  endAgentKeys,
  gatingResultsChanged: compareDevices,
  fileReferences: referencesToFiles(Object.values(tables)),
  hostActionDeliverers: [scriptDeliverer, appleDeliverer, windowsWiper, androidDeliverer],
  agentNotifiers: [windowsNotices, diskEncryptionNotices],
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
  openDiskKey,
  appleMessages: { DeclarativeManagement: declarativeManagement },
  askToLeave: [askToLeave, askWindowsToLeave, askAndroidToLeave],
  windowsDevices: [windowsActionListener, windowsUpdateListener, startupPinListener, joinListener],
  deviceCallbacks: [finishDeviceSignIn, finishWindowsSignIn],
  commandPlatforms: [appleCommands, windowsCommands, androidCommands],
  appleSetupSteps: [bootstrapStep, profilesStep, accountStep, softwareStep],
  setupWaits: [appleSetupWait],
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
