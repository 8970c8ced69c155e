import { inHouseAppsApi } from "../../../api/delivery/in-house-apps.ts";
import { storeAppsApi } from "../../../api/delivery/store-apps.ts";
import { vppApi } from "../../../api/delivery/vpp.ts";
import { packagesApi } from "../../../api/software/packages.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { addApp, editApp, removeOffer, replaceApps } from "./apps.ts";
import { inHouseFile, inHouseManifest } from "./in-house.ts";
import { listLicensed } from "./licensed.ts";
import { addToken, deleteOnlyToken, deleteToken, listTokens, renewToken, setTokenTeams } from "./tokens.ts";

export const inHouseAppRoutes: readonly Route[] = [
  route(inHouseAppsApi.manifest, ({ params, query }, ctx) => inHouseManifest(ctx, params.id, query.token)),
  route(inHouseAppsApi.download, ({ params, query }, ctx) => inHouseFile(ctx, params.id, query.token)),
];

export const storeAppRoutes: readonly Route[] = [
  route(vppApi.add, ({ body }, ctx) => addToken(ctx, Buffer.from(body.token.bytes))),
  route(vppApi.list, (_input, ctx) => listTokens(ctx)),
  route(vppApi.teams, ({ params, body }, ctx) => setTokenTeams(ctx, params.id, body.team_ids ?? undefined)),
  route(vppApi.renew, ({ params, body }, ctx) => renewToken(ctx, params.id, Buffer.from(body.token.bytes))),
  route(vppApi.delete, ({ params }, ctx) => deleteToken(ctx, params.id)),
  route(vppApi.deleteFirst, (_input, ctx) => deleteOnlyToken(ctx)),
  route(packagesApi.delete, ({ params, query }, ctx) => removeOffer(ctx, params.id, query.team_id)),
  route(storeAppsApi.list, ({ query }, ctx) => listLicensed(ctx, query.team_id)),
  route(storeAppsApi.add, ({ body }, ctx) => addApp(ctx, body)),
  route(storeAppsApi.edit, ({ params, body }, ctx) => editApp(ctx, params.id, body)),
  route(storeAppsApi.batch, ({ query, body }, ctx) => replaceApps(ctx, query.team_name, body.app_store_apps)),
];
