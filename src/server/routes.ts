// Every route of the API. A test compares them with the endpoint table.

import { inviteRoutes } from "./accounts/invites/routes.ts";
import { sessionRoutes } from "./accounts/sign-in/routes.ts";
import { ssoRoutes } from "./accounts/sso/routes.ts";
import { tokenRoutes } from "./accounts/tokens/routes.ts";
import { mailRoutes } from "./accounts/users/mail-routes.ts";
import { userRoutes } from "./accounts/users/routes.ts";
import { conditionalAccessRoutes } from "./automations/conditional-access/routes.ts";
import { webhookRoutes } from "./automations/webhooks/routes.ts";
import { caRoutes } from "./certificates/ca/routes.ts";
import { certificateRoutes } from "./certificates/certificates/routes.ts";
import { agentTableRoutes } from "./checks/agent-tables/routes.ts";
import { carveRoutes } from "./checks/carves/routes.ts";
import { packRoutes } from "./checks/packs/routes.ts";
import { policyRoutes } from "./checks/policies/routes.ts";
import { queryRoutes } from "./checks/queries/routes.ts";
import { newHostRoutes } from "./delivery/new-hosts/routes.ts";
import { policyRunRoutes } from "./delivery/policy-runs/routes.ts";
import { scriptRoutes } from "./delivery/scripts/routes.ts";
import { setupItemRoutes } from "./delivery/setup-experience/routes.ts";
import { softwareInstallRoutes } from "./delivery/software-installs/routes.ts";
import { storeAppRoutes } from "./delivery/store-apps/routes.ts";
import { androidTurnOffRoutes } from "./devices/android/actions/turn-off.ts";
import { androidDeviceRoutes } from "./devices/android/devices/routes.ts";
import { androidEnterpriseRoutes } from "./devices/android/enterprise/routes.ts";
import { appleActionRoutes } from "./devices/apple/actions/routes.ts";
import { assetRoutes } from "./devices/apple/declarations/routes.ts";
import { appleEnrollRoutes } from "./devices/apple/enroll/routes.ts";
import { hostNameRoutes } from "./devices/apple/names/routes.ts";
import { applePasswordRoutes } from "./devices/apple/passwords/routes.ts";
import { portalRoutes } from "./devices/apple/portal/routes.ts";
import { pushRoutes } from "./devices/apple/push/routes.ts";
import { setupExperienceRoutes } from "./devices/apple/setup/routes.ts";
import { appleTrustRoutes } from "./devices/apple/trust/routes.ts";
import { commandRoutes } from "./devices/commands/routes.ts";
import { diskEncryptionRoutes } from "./devices/encryption-settings/routes.ts";
import { hostPasswordRoutes } from "./devices/host-passwords/routes.ts";
import { profileRoutes } from "./devices/profiles/routes.ts";
import { configurationRoutes } from "./edge/configuration/routes.ts";
import { deviceRoutes } from "./edge/device-page/routes.ts";
import { jobRoutes } from "./edge/jobs/routes.ts";
import { planRoutes } from "./edge/plans/routes.ts";
import { reportRoutes } from "./edge/reports/routes.ts";
import { searchRoutes } from "./edge/search/routes.ts";
import { signInPage } from "./edge/web/sign-in.ts";
import { hostActivityRoutes } from "./hosts/activity-feed/host-routes.ts";
import { activityRoutes } from "./hosts/activity-feed/routes.ts";
import { directoryRoutes } from "./hosts/directory/routes.ts";
import { hostActionRoutes } from "./hosts/host-actions/routes.ts";
import { operationRoutes } from "./hosts/operations/routes.ts";
import { scimRoutes } from "./hosts/scim/routes.ts";
import { approvalRoutes } from "./inventory/approvals/routes.ts";
import { bulkActionRoutes } from "./inventory/bulk-actions/routes.ts";
import { chartRoutes } from "./inventory/charts/routes.ts";
import { hostDetailRoutes } from "./inventory/host-details/routes.ts";
import { hostRoutes } from "./inventory/host-list/routes.ts";
import { labelRoutes } from "./inventory/labels/routes.ts";
import { liveQueryRoutes } from "./inventory/live-queries/routes.ts";
import { targetRoutes } from "./inventory/targets/routes.ts";
import { teamRemovalRoutes } from "./inventory/team-removal/routes.ts";
import type { Route } from "./platform/core/http/route.ts";
import { taskRoutes } from "./platform/tasks/routes.ts";
import { uploadRoutes } from "./platform/uploads/routes.ts";
import { guardedByGitopsMode } from "./settings/app-config/gitops-mode.ts";
import { appConfigRoutes } from "./settings/app-config/routes.ts";
import { enrollSecretRoutes } from "./settings/enroll-secrets/routes.ts";
import { logoRoutes } from "./settings/logo/routes.ts";
import { setupRoutes } from "./settings/setup/routes.ts";
import { configChangeRoutes, teamRoutes } from "./settings/teams/routes.ts";
import { variableRoutes } from "./settings/variables/routes.ts";
import { viewRoutes } from "./settings/views/routes.ts";
import { catalogueRoutes } from "./software/catalogue/routes.ts";
import { packageRoutes } from "./software/installers/routes.ts";
import { osVersionRoutes } from "./software/os-versions/routes.ts";
import { packageBatchRoutes } from "./software/package-batches/routes.ts";
import { selfServiceRoutes } from "./software/self-service/routes.ts";
import { softwareRoutes } from "./software/software/routes.ts";
import { vulnerabilityRoutes } from "./software/vulnerabilities/routes.ts";

const table: readonly Route[] = [
  ...activityRoutes,
  ...androidDeviceRoutes,
  ...androidEnterpriseRoutes,
  ...androidTurnOffRoutes,
  ...hostActivityRoutes,
  ...operationRoutes,
  ...appConfigRoutes,
  ...configChangeRoutes,
  ...appleEnrollRoutes,
  ...appleTrustRoutes,
  ...approvalRoutes,
  ...bulkActionRoutes,
  ...assetRoutes,
  ...agentTableRoutes,
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
  ...policyRunRoutes,
  ...selfServiceRoutes,
  ...reportRoutes,
  ...planRoutes,
  ...chartRoutes,
  ...searchRoutes,
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
  ...uploadRoutes,
  ...userRoutes,
  ...variableRoutes,
  ...viewRoutes,
  ...webhookRoutes,
];

export const routes: readonly Route[] = table.map(guardedByGitopsMode);
