// Every route of the API. A test compares them with the endpoint table.
import { hostActivityRoutes } from "./activities/host-routes.ts";
import { activityRoutes } from "./activities/routes.ts";
import { appConfigRoutes } from "./app-config/routes.ts";
import { approvalRoutes } from "./approvals/routes.ts";
import { certificateAuthorityRoutes } from "./ca/routes.ts";
import { carveRoutes } from "./carves/routes.ts";
import { certificateRoutes } from "./certificates/routes.ts";
import { configurationRoutes } from "./configuration/routes.ts";
import type { Route } from "./core/route.ts";
import { deviceRoutes } from "./device/routes.ts";
import { enrollSecretRoutes } from "./enroll-secrets/routes.ts";
import { hostDetailRoutes } from "./hosts/detail-routes.ts";
import { hostRoutes } from "./hosts/routes.ts";
import { inviteRoutes } from "./invites/routes.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { labelRoutes } from "./labels/routes.ts";
import { liveQueryRoutes } from "./live-queries/routes.ts";
import { mailRoutes } from "./mail/routes.ts";
import { packRoutes } from "./packs/routes.ts";
import { policyRoutes } from "./policies/routes.ts";
import { queryRoutes } from "./queries/routes.ts";
import { hostActionRoutes } from "./scripts/routes.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { setupRoutes } from "./setup/routes.ts";
import { ssoRoutes } from "./sso/routes.ts";
import { targetRoutes } from "./targets/routes.ts";
import { teamRoutes } from "./teams/routes.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { translatorRoutes } from "./translator/routes.ts";
import { userRoutes } from "./users/routes.ts";
import { versionRoutes } from "./version/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

export const routes: readonly Route[] = [
  ...activityRoutes,
  ...hostActivityRoutes,
  ...appConfigRoutes,
  ...approvalRoutes,
  ...carveRoutes,
  ...certificateAuthorityRoutes,
  ...certificateRoutes,
  ...configurationRoutes,
  ...deviceRoutes,
  ...enrollSecretRoutes,
  ...hostDetailRoutes,
  ...hostActionRoutes,
  ...hostRoutes,
  ...inviteRoutes,
  ...jobRoutes,
  ...labelRoutes,
  ...liveQueryRoutes,
  ...mailRoutes,
  ...packRoutes,
  ...queryRoutes,
  ...policyRoutes,
  ...sessionRoutes,
  ...setupRoutes,
  ...ssoRoutes,
  ...targetRoutes,
  ...teamRoutes,
  ...tokenRoutes,
  ...translatorRoutes,
  ...userRoutes,
  ...versionRoutes,
  ...webhookRoutes,
];
