// Who does what features ask of those that they do not know.

import { deviceCallbacks } from "./accounts/sso/device-callbacks.ts";
import { endAccess } from "./automations/conditional-access/certificates.ts";
import { directoryDeviceInventory } from "./automations/conditional-access/compliance/inventory.ts";
import { deliverMail } from "./automations/policy-mails/deliver.ts";
import { deliverWebhook } from "./automations/webhooks/deliver.ts";
import { endChallenges } from "./certificates/certificates/challenges.ts";
import { certificateInventory } from "./certificates/certificates/inventory.ts";
import { scheduleInventory } from "./checks/packs/inventory.ts";
import { forgetForeignResults } from "./checks/policies/results.ts";
import { managedAgentInventory } from "./delivery/managed-agent/inventory.ts";
import { runScript } from "./delivery/scripts/kind.ts";
import { scriptsUseVariables } from "./delivery/scripts/variables.ts";
import { softwareStep } from "./delivery/setup-experience/device-step.ts";
import { setupScriptsUseVariables } from "./delivery/setup-experience/script.ts";
import { dropPendingInstalls, installsFollowPackages } from "./delivery/software-installs/edits.ts";
import { inHouseInstall, inHouseListener } from "./delivery/software-installs/in-house.ts";
import { softwareInstall, softwareUninstall } from "./delivery/software-installs/kinds.ts";
import { packagesForHost } from "./delivery/software-installs/view.ts";
import { storeAppCommand, storeAppListener, storeAppVerification } from "./delivery/store-apps/commands.ts";
import { appsForHost } from "./delivery/store-apps/host-offers.ts";
import { inHouseCommand, inHouseCommandListener } from "./delivery/store-apps/in-house.ts";
import { storeAppInstall } from "./delivery/store-apps/installs.ts";
import { storeAppOffers } from "./delivery/store-apps/offers.ts";
import { storeAppExtras } from "./delivery/store-apps/title-extras.ts";
import { androidActionKinds, androidDeliverer } from "./devices/android/actions/deliverer.ts";
import {
  androidLeave,
  askToLeave as askAndroidToLeave,
  endDeviceRequests as endAndroidRequests,
} from "./devices/android/actions/leave.ts";
import { androidCommands, androidCustomCommand } from "./devices/android/commands/custom.ts";
import { androidPlatform } from "./devices/android/policies/platform.ts";
import { appleClearPasscode } from "./devices/apple/actions/clear-passcode.ts";
import { appleCommands, appleCustomCommand } from "./devices/apple/actions/custom.ts";
import { appleDeliverer } from "./devices/apple/actions/deliverer.ts";
import { appleActionKinds } from "./devices/apple/actions/kinds.ts";
import { appleLeave, askToLeave } from "./devices/apple/actions/leave.ts";
import { appleActionListener, endDeviceRequests } from "./devices/apple/actions/listener.ts";
import { enrolledHosts } from "./devices/apple/channel/devices.ts";
import { appleDevices } from "./devices/apple/channel/listeners.ts";
import { appleDeclarationCommand } from "./devices/apple/declarations/command.ts";
import { declarationListener } from "./devices/apple/declarations/session.ts";
import { appleUpdateListener } from "./devices/apple/declarations/updates.ts";
import { appleDetails, appleDetailsListener } from "./devices/apple/details/commands.ts";
import { appleDetailsReader } from "./devices/apple/details/ingest.ts";
import { endUserListener } from "./devices/apple/enroll/end-users.ts";
import { appleRenewal, renewalListener } from "./devices/apple/enroll/renewal.ts";
import { filevaultInventory, filevaultListener, securityInfo } from "./devices/apple/filevault/key.ts";
import { deviceNameListener, readDeviceName, setDeviceName } from "./devices/apple/names/device-name.ts";
import { findAccount, managedAccountListener, setAccountPassword } from "./devices/apple/passwords/managed-account.ts";
import { recoveryLockListener, setRecoveryLock, verifyRecoveryLock } from "./devices/apple/passwords/recovery-lock.ts";
import { assignedHosts } from "./devices/apple/portal/devices.ts";
import { appleProfileCommand, appleProfileListener } from "./devices/apple/profiles/commands.ts";
import { profileInventory } from "./devices/apple/profiles/inventory.ts";
import { applePlatform } from "./devices/apple/profiles/platform.ts";
import { accountCommand, accountStep } from "./devices/apple/setup/account.ts";
import { bootstrapCommand, bootstrapListener, bootstrapStep } from "./devices/apple/setup/bootstrap.ts";
import { releaseCommand, setupListener } from "./devices/apple/setup/release.ts";
import { appleSetupSteps, profilesStep } from "./devices/apple/setup/steps.ts";
import { deviceCaEnd, pushCertificateEnd } from "./devices/apple/trust/ends.ts";
import { commandPlatforms } from "./devices/commands/platform.ts";
import { expiringThings } from "./devices/expiry/service.ts";
import { hostNamesUseVariables } from "./devices/host-names/uses.ts";
import { forgetPasswords } from "./devices/host-passwords/rows.ts";
import { leaveRequests } from "./devices/leaving/leave.ts";
import { profilePlatforms } from "./devices/profiles/platform.ts";
import { profilesUseVariables } from "./devices/profiles/uses.ts";
import {
  askToLeave as askWindowsToLeave,
  endDeviceRequests as endWindowsRequests,
  windowsLeave,
} from "./devices/windows/actions/leave.ts";
import { windowsActionListener, windowsWipe, windowsWiper } from "./devices/windows/actions/wipe.ts";
import { windowsDevices } from "./devices/windows/channel/listeners.ts";
import { windowsCommands, windowsCustomCommand } from "./devices/windows/commands/custom.ts";
import { joinListener } from "./devices/windows/joins/joins.ts";
import { windowsSerialCommand } from "./devices/windows/joins/serial.ts";
import {
  windowsObsoleteNodes,
  windowsProfileCommand,
  windowsProfileListener,
} from "./devices/windows/profiles/commands.ts";
import { windowsProfileInventory } from "./devices/windows/profiles/inventory.ts";
import { windowsPlatform } from "./devices/windows/profiles/platform.ts";
import { finishWindowsSignIn } from "./devices/windows/sign-in/sign-in.ts";
import { startupPinListener, startupPinPolicy } from "./devices/windows/startup-pin/startup-pin.ts";
import { windowsDeadlines } from "./devices/windows/updates/commands.ts";
import { windowsUpdateListener } from "./devices/windows/updates/updates.ts";
import { inventorySources } from "./edge/agent/ingest/sources.ts";
import { endDeviceSessions } from "./edge/device-sign-in/session.ts";
import { finishDeviceSignIn } from "./edge/device-sign-in/sign-in.ts";
import { apiRoutes } from "./edge/web/call.ts";
import { diskEncryptionInventory } from "./hosts/disk-encryption/inventory.ts";
import { forgetDiskKeys } from "./hosts/disk-encryption/keys.ts";
import { bitlockerPinInventory } from "./hosts/disk-encryption/pin.ts";
import { hostsOfHardware } from "./hosts/enrollment/kind.ts";
import { dropEntrusted } from "./hosts/enrollment/move.ts";
import { hostActionDeliverers } from "./hosts/host-actions/deliverer.ts";
import { hostActionKinds, scriptKind } from "./hosts/host-actions/kinds.ts";
import { scriptDeliverer } from "./hosts/host-actions/script-deliverer.ts";
import { batteryInventory } from "./hosts/hosts/inventory/batteries.ts";
import { browserEmailInventory } from "./hosts/hosts/inventory/browser-emails.ts";
import { userInventory } from "./hosts/hosts/inventory/users.ts";
import { mdmInventory } from "./hosts/mdm-status/ingest.ts";
import { munkiSource } from "./hosts/munki/ingest.ts";
import { operationKinds } from "./hosts/operations/kind.ts";
import { endDeviceTokens } from "./inventory/device-tokens/tokens.ts";
import { labelsUseVitals } from "./inventory/labels/vital-uses.ts";
import { Extensions, implementedBy } from "./platform/core/extensions.ts";
import { deliveries } from "./platform/outbox/deliver.ts";
import { routes } from "./routes.ts";
import { deliverTicket } from "./settings/tickets/deliver.ts";
import { variableUsers } from "./settings/variables/use.ts";
import { patchFollows } from "./software/catalogue/patching.ts";
import { packageOffers } from "./software/installers/offers.ts";
import { installersUseVariables } from "./software/installers/scripts.ts";
import { installerListeners } from "./software/installers/service.ts";
import { packageExtras } from "./software/installers/title-extras.ts";
import { iconExtras } from "./software/self-service/icon-rows.ts";
import { titleOffers } from "./software/self-service/offers.ts";
import { hostOffers } from "./software/software/host-offers.ts";
import { softwareInventory } from "./software/software/ingest.ts";
import { titleExtras } from "./software/software/titles/titles.ts";

export const extensions = new Extensions([
  implementedBy(
    deliveries,
    { name: "webhook", deliver: deliverWebhook },
    { name: "ticket", deliver: deliverTicket },
    { name: "mail", deliver: deliverMail },
  ),
  implementedBy(
    dropEntrusted,
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
  ),
  implementedBy(hostActionDeliverers, scriptDeliverer, appleDeliverer, windowsWiper, androidDeliverer),
  implementedBy(hostsOfHardware, enrolledHosts, assignedHosts),
  implementedBy(
    inventorySources,
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
  ),
  implementedBy(
    appleDevices,
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
    appleProfileListener,
    renewalListener,
    inHouseCommandListener,
    appleDetailsReader,
    filevaultListener,
    declarationListener,
  ),
  implementedBy(leaveRequests, askToLeave, askWindowsToLeave, askAndroidToLeave),
  implementedBy(
    windowsDevices,
    windowsActionListener,
    windowsUpdateListener,
    startupPinListener,
    joinListener,
    windowsProfileListener,
  ),
  implementedBy(deviceCallbacks, finishDeviceSignIn, finishWindowsSignIn),
  implementedBy(commandPlatforms, appleCommands, windowsCommands, androidCommands),
  implementedBy(appleSetupSteps, bootstrapStep, profilesStep, accountStep, softwareStep),
  implementedBy(profilePlatforms, windowsPlatform, applePlatform, androidPlatform),
  implementedBy(expiringThings, pushCertificateEnd, deviceCaEnd),
  implementedBy(
    operationKinds,
    appleCustomCommand,
    windowsCustomCommand,
    windowsProfileCommand,
    windowsObsoleteNodes,
    windowsDeadlines,
    startupPinPolicy,
    windowsSerialCommand,
    appleProfileCommand,
    appleRenewal,
    appleDeclarationCommand,
    securityInfo,
    bootstrapCommand,
    accountCommand,
    releaseCommand,
    setRecoveryLock,
    verifyRecoveryLock,
    findAccount,
    setAccountPassword,
    setDeviceName,
    readDeviceName,
    ...Object.values(hostActionKinds),

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
    softwareInstall,
    softwareUninstall,
    inHouseInstall,
    inHouseCommand,
    scriptKind,
    runScript,
  ),
  implementedBy(apiRoutes, ...routes),
  implementedBy(installerListeners, installsFollowPackages, patchFollows),
  implementedBy(hostOffers, packagesForHost, appsForHost),
  implementedBy(titleExtras, packageExtras, storeAppExtras, iconExtras),
  implementedBy(titleOffers, packageOffers, storeAppOffers),
  implementedBy(
    variableUsers,
    profilesUseVariables,
    scriptsUseVariables,
    setupScriptsUseVariables,
    installersUseVariables,
    hostNamesUseVariables,
    labelsUseVitals,
  ),
]);
