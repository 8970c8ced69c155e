import { catalogueApi } from "../../../api/software/catalogue.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { addApp } from "./add.ts";
import { getApp, listApps } from "./lists.ts";

export const catalogueRoutes: readonly Route[] = [
  route(catalogueApi.list, ({ query }, ctx) => listApps(ctx, query)),
  route(catalogueApi.get, async ({ params, query }, ctx) => ({
    svc_maintained_app: await getApp(ctx, params.id, query.team_id),
  })),
  route(catalogueApi.add, ({ body }, ctx) => addApp(ctx, body)),
];
