import { targetsApi } from "../../../api/inventory/targets.ts";
import { translatorApi } from "../../../api/inventory/translator.ts";
import { route } from "../../platform/core/http/route.ts";
import { countTargets, searchHosts, searchTargets } from "./service.ts";
import { translate } from "./translate.ts";

export const targetRoutes = [
  route(targetsApi.search, ({ body }, ctx) => searchTargets(ctx, body)),
  route(targetsApi.count, ({ body }, ctx) => countTargets(ctx, body)),
  route(translatorApi.translate, ({ body }, ctx) => translate(ctx, body.list)),
  route(targetsApi.hosts, ({ body }, ctx) => searchHosts(ctx, body)),
];
