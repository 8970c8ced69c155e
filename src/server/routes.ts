// Every route of the API; a test holds it against the endpoint table.
import { hostActivityRoutes } from "./activities/host-routes.ts";
import { activityRoutes } from "./activities/routes.ts";
import { appConfigRoutes } from "./app-config/routes.ts";
import { carveRoutes } from "./carves/routes.ts";
import type { Route } from "./core/route.ts";
import { deviceRoutes } from "./device/routes.ts";
import { enrollSecretRoutes } from "./enroll-secrets/routes.ts";
import { hostDetailRoutes } from "./hosts/detail-routes.ts";
import { hostRoutes } from "./hosts/routes.ts";
import { labelRoutes } from "./labels/routes.ts";
import { liveQueryRoutes } from "./live-queries/routes.ts";
import { packRoutes } from "./packs/routes.ts";
import { policyRoutes } from "./policies/routes.ts";
import { queryRoutes } from "./queries/routes.ts";
import { hostActionRoutes } from "./scripts/routes.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { setupRoutes } from "./setup/routes.ts";
import { targetRoutes } from "./targets/routes.ts";
import { teamRoutes } from "./teams/routes.ts";
import { translatorRoutes } from "./translator/routes.ts";
import { userRoutes } from "./users/routes.ts";
import { versionRoutes } from "./version/routes.ts";

export const routes: readonly Route[] = [
  ...activityRoutes,
  ...hostActivityRoutes,
  ...appConfigRoutes,
  ...carveRoutes,
  ...deviceRoutes,
  ...enrollSecretRoutes,
  ...hostDetailRoutes,
  ...hostActionRoutes,
  ...hostRoutes,
  ...labelRoutes,
  ...liveQueryRoutes,
  ...packRoutes,
  ...queryRoutes,
  ...policyRoutes,
  ...sessionRoutes,
  ...setupRoutes,
  ...targetRoutes,
  ...teamRoutes,
  ...translatorRoutes,
  ...userRoutes,
  ...versionRoutes,
];
