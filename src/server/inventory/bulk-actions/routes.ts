import { bulkActionsApi } from "../../../api/inventory/bulk-actions.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { labelMany, lockMany, refetchMany, wipeMany } from "./service.ts";

export const bulkActionRoutes: readonly Route[] = [
  route(bulkActionsApi.refetch, ({ body }, ctx, reply) => refetchMany(ctx, body, reply)),
  route(bulkActionsApi.labels, ({ body }, ctx, reply) => labelMany(ctx, body, reply)),
  route(bulkActionsApi.lock, ({ body }, ctx, reply) => lockMany(ctx, "lock", body, reply)),
  route(bulkActionsApi.unlock, ({ body }, ctx, reply) => lockMany(ctx, "unlock", body, reply)),
  route(bulkActionsApi.wipe, ({ body }, ctx, reply) => wipeMany(ctx, body, reply)),
];
