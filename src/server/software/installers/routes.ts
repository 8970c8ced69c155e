import { packagesApi } from "../../../api/software/packages.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { checkHashes, createDownloadToken, downloadByToken, downloadPackage, uploadPackage } from "./packages.ts";

export const packageRoutes: readonly Route[] = [
  route(packagesApi.upload, ({ body }, ctx) => uploadPackage(ctx, body)),
  route(packagesApi.download, ({ params, query }, ctx) => downloadPackage(ctx, params.id, query.team_id)),
  route(packagesApi.token, ({ params, query }, ctx) => createDownloadToken(ctx, params.id, query.team_id)),
  route(packagesApi.downloadByToken, ({ params }, ctx) => downloadByToken(ctx, params.id, params.token)),
  route(packagesApi.hashes, ({ query }, ctx) => checkHashes(ctx, query)),
];
