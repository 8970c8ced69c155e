import { carvesApi } from "../../../api/checks/carves.ts";
import { route } from "../../platform/core/http/route.ts";
import { downloadCarve } from "./download.ts";
import { getBlock, getCarve, listCarves } from "./service.ts";

export const carveRoutes = [
  route(carvesApi.list, ({ query }, ctx) => listCarves(ctx, query)),
  route(carvesApi.get, async ({ params }, ctx) => ({ carve: await getCarve(ctx, params.id) })),
  route(carvesApi.block, ({ params }, ctx) => getBlock(ctx, params.id, params.block_id)),
  route(carvesApi.download, ({ params }, ctx) => downloadCarve(ctx, params.id)),
];
