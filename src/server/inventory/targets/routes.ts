import { targetsApi } from "../../../api/inventory/targets.ts";
import { route } from "../../platform/core/http/route.ts";
import { countTargets, searchHosts, searchTargets } from "./service.ts";

export const targetRoutes = [
  route(targetsApi.search, ({ body }, ctx) => searchTargets(ctx, body)),
  route(targetsApi.count, ({ body }, ctx) => countTargets(ctx, body)),
  route(targetsApi.hosts, ({ body }, ctx) => searchHosts(ctx, body)),
];
