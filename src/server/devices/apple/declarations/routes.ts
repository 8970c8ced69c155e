import { assetsApi } from "../../../../api/devices/assets.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { createAsset, deleteAsset, downloadAsset, getAsset, listAssets } from "./assets.ts";

export const assetRoutes: readonly Route[] = [
  route(assetsApi.list, ({ query }, ctx) => listAssets(ctx, query.team_id)),
  route(assetsApi.get, ({ params, query }, ctx) =>
    query.alt === "media" ? downloadAsset(ctx, params.asset_uuid) : getAsset(ctx, params.asset_uuid),
  ),
  route(assetsApi.create, ({ body }, ctx) => createAsset(ctx, body.team_id, body.asset)),
  route(assetsApi.delete, ({ params }, ctx) => deleteAsset(ctx, params.asset_uuid)),
];
