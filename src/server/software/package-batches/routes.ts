import { packageBatchesApi } from "../../../api/software/package-batches.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { getBatch, startBatch } from "./service.ts";

export const packageBatchRoutes: readonly Route[] = [
  route(packageBatchesApi.start, (input, ctx) => startBatch(ctx, input)),
  route(packageBatchesApi.get, ({ params }, ctx) => getBatch(ctx, params.request_uuid)),
];
