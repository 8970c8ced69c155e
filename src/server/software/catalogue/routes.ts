import { catalogueApi } from "../../../api/software/catalogue.ts";
import { packagesApi } from "../../../api/software/packages.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { changePackage } from "../installers/packages.ts";
import { addApp } from "./add.ts";
import { getApp, listApps } from "./lists.ts";
import { pinVersion } from "./updates.ts";

export const catalogueRoutes: readonly Route[] = [
  // Packages of maintained apps can be pinned to a version of the catalogue.
  route(packagesApi.update, ({ params, body }, ctx) => changePackage(ctx, params.id, body, pinVersion)),
  route(catalogueApi.list, ({ query }, ctx) => listApps(ctx, query)),
  route(catalogueApi.get, async ({ params, query }, ctx) => ({
    svc_maintained_app: await getApp(ctx, params.id, query.team_id),
  })),
  route(catalogueApi.add, ({ body }, ctx) => addApp(ctx, body)),
];
