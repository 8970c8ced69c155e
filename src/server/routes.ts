// Every route of the API; a test holds it against the endpoint table.
import { activityRoutes } from "./activities/routes.ts";
import { appConfigRoutes } from "./app-config/routes.ts";
import type { Route } from "./core/route.ts";
import { enrollSecretRoutes } from "./enroll-secrets/routes.ts";
import { hostRoutes } from "./hosts/routes.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { setupRoutes } from "./setup/routes.ts";
import { teamRoutes } from "./teams/routes.ts";
import { userRoutes } from "./users/routes.ts";
import { versionRoutes } from "./version/routes.ts";

export const routes: readonly Route[] = [
  ...activityRoutes,
  ...appConfigRoutes,
  ...enrollSecretRoutes,
  ...hostRoutes,
  ...sessionRoutes,
  ...setupRoutes,
  ...teamRoutes,
  ...userRoutes,
  ...versionRoutes,
];
