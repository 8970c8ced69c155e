import { hostActionsApi } from "../../../api/hosts/host-actions.ts";
import { route } from "../../platform/core/http/route.ts";
import { actOnHost } from "./actions.ts";

export const hostActionRoutes = [
  route(hostActionsApi.lock, ({ params, query }, ctx) =>
    actOnHost(ctx, params.id, "lock", { viewPin: query.view_pin }),
  ),
  route(hostActionsApi.unlock, async ({ params }, ctx) => ({
    host_id: params.id,
    ...(await actOnHost(ctx, params.id, "unlock")),
  })),
  route(hostActionsApi.wipe, async ({ params, body }, ctx, reply) => {
    const wipeType = body?.windows?.wipe_type;
    const result = await actOnHost(ctx, params.id, "wipe", wipeType === undefined ? {} : { wipeType });
    if (result.approval) reply.status = 202;
    return result;
  }),
];
