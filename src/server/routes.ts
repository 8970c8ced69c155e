// Every route of the API. A test compares them with the endpoint table.
import { hostActivityRoutes } from "./activity-feed/host-routes.ts";
import { activityRoutes } from "./activity-feed/routes.ts";
import { appConfigRoutes } from "./app-config/routes.ts";
import { approvalRoutes } from "./approvals/routes.ts";
import { caRoutes } from "./ca/routes.ts";
import { carveRoutes } from "./carves/routes.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { certificateRoutes } from "./certificates/routes.ts";
import { conditionalAccessRoutes } from "./conditional-access/routes.ts";
import { configurationRoutes } from "./configuration/routes.ts";
import type { Route } from "./core/http/route.ts";
import { deviceRoutes } from "./device-page/routes.ts";
import { directoryRoutes } from "./directory/routes.ts";
import { enrollSecretRoutes } from "./enroll-secrets/routes.ts";
import { guardedByGitopsMode } from "./gitops-mode/guard.ts";
import { hostActionRoutes } from "./host-actions/routes.ts";
import { hostDetailRoutes } from "./host-details/routes.ts";
import { hostRoutes } from "./host-list/routes.ts";
import { hostPasswordRoutes } from "./host-passwords/routes.ts";
import { packageRoutes } from "./installers/routes.ts";
import { inviteRoutes } from "./invites/routes.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { labelRoutes } from "./labels/routes.ts";
import { liveQueryRoutes } from "./live-queries/routes.ts";
import { logoRoutes } from "./logo/routes.ts";
import { androidDeviceRoutes } from "./mdm/android/devices/routes.ts";
import { androidEnterpriseRoutes } from "./mdm/android/enterprise/routes.ts";
import { appleActionRoutes } from "./mdm/apple/actions/routes.ts";
import { assetRoutes } from "./mdm/apple/declarations/routes.ts";
import { appleEnrollRoutes } from "./mdm/apple/enroll/routes.ts";
import { hostNameRoutes } from "./mdm/apple/names/routes.ts";
import { applePasswordRoutes } from "./mdm/apple/passwords/routes.ts";
import { portalRoutes } from "./mdm/apple/portal/routes.ts";
import { pushRoutes } from "./mdm/apple/push/routes.ts";
import { setupExperienceRoutes } from "./mdm/apple/setup/routes.ts";
import { appleTrustRoutes } from "./mdm/apple/trust/routes.ts";
import { commandRoutes } from "./mdm/commands/routes.ts";
import { diskEncryptionRoutes } from "./mdm/disk-encryption/routes.ts";
import { profileRoutes } from "./mdm/profiles/routes.ts";
import { newHostRoutes } from "./new-hosts/routes.ts";
import { osVersionRoutes } from "./os-versions/routes.ts";
import { packageBatchRoutes } from "./package-batches/routes.ts";
import { packRoutes } from "./packs/routes.ts";
import { policyRoutes } from "./policies/routes.ts";
import { queryRoutes } from "./queries/routes.ts";
import { scimRoutes } from "./scim/routes.ts";
import { scriptRoutes } from "./scripts/routes.ts";
import { selfServiceRoutes } from "./self-service/routes.ts";
import { setupRoutes } from "./setup/routes.ts";
import { setupItemRoutes } from "./setup-experience/routes.ts";
import { sessionRoutes } from "./sign-in/routes.ts";
import { softwareRoutes } from "./software/routes.ts";
import { softwareInstallRoutes } from "./software-installs/routes.ts";
import { ssoRoutes } from "./sso/routes.ts";
import { storeAppRoutes } from "./store-apps/routes.ts";
import { targetRoutes } from "./targets/routes.ts";
import { taskRoutes } from "./tasks/routes.ts";
import { teamRemovalRoutes } from "./team-removal/routes.ts";
import { teamRoutes } from "./teams/routes.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { translatorRoutes } from "./translator/routes.ts";
import { uploadRoutes } from "./uploads/routes.ts";
import { mailRoutes } from "./users/mail-routes.ts";
import { userRoutes } from "./users/routes.ts";
import { variableRoutes } from "./variables/routes.ts";
import { versionRoutes } from "./version/routes.ts";
import { vulnerabilityRoutes } from "./vulnerabilities/routes.ts";
import { signInPage } from "./web/sign-in.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

const table: readonly Route[] = [
  ...activityRoutes,
  ...androidDeviceRoutes,
  ...androidEnterpriseRoutes,
  ...hostActivityRoutes,
  ...appConfigRoutes,
  ...appleEnrollRoutes,
  ...appleTrustRoutes,
  ...approvalRoutes,
  ...assetRoutes,
  ...carveRoutes,
  ...commandRoutes,
  ...caRoutes,
  ...certificateRoutes,
  ...conditionalAccessRoutes,
  ...configurationRoutes,
  ...deviceRoutes,
  ...enrollSecretRoutes,
  ...hostDetailRoutes,
  ...hostActionRoutes,
  ...hostRoutes,
  ...inviteRoutes,
  ...jobRoutes,
  ...labelRoutes,
  ...newHostRoutes,
  ...osVersionRoutes,
  ...diskEncryptionRoutes,
  ...softwareRoutes,
  ...softwareInstallRoutes,
  ...vulnerabilityRoutes,
  ...catalogueRoutes,
  ...packageBatchRoutes,
  ...scimRoutes,
  ...directoryRoutes,
  ...scriptRoutes,
  ...liveQueryRoutes,
  ...mailRoutes,
  ...appleActionRoutes,
  ...hostPasswordRoutes,
  ...hostNameRoutes,
  ...logoRoutes,
  ...applePasswordRoutes,
  ...pushRoutes,
  ...profileRoutes,
  ...packageRoutes,
  ...packRoutes,
  ...portalRoutes,
  ...queryRoutes,
  ...policyRoutes,
  ...selfServiceRoutes,
  ...sessionRoutes,
  ...setupRoutes,
  ...setupExperienceRoutes,
  ...setupItemRoutes,
  ...ssoRoutes(signInPage),
  ...storeAppRoutes,
  ...targetRoutes,
  ...taskRoutes,
  ...teamRoutes,
  ...teamRemovalRoutes,
  ...tokenRoutes,
  ...translatorRoutes,
  ...uploadRoutes,
  ...userRoutes,
  ...variableRoutes,
  ...versionRoutes,
  ...webhookRoutes,
];

export const routes: readonly Route[] = table.map(guardedByGitopsMode);
