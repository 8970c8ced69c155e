import { activitiesApi } from "../../../api/platform/activities.ts";
import { verifyChain } from "../../platform/activities/verify.ts";
import { route } from "../../platform/core/http/route.ts";
import { exportActivities } from "./export.ts";
import { listActivities } from "./service.ts";
import { streamActivities } from "./stream.ts";

export const activityRoutes = [
  route(activitiesApi.list, async ({ query }, ctx, reply) => {
    const { reply: page, total } = await listActivities(ctx, query);
    if (total !== null) reply.headers["x-total-count"] = String(total);
    return page;
  }),
  route(activitiesApi.export, async ({ query }, ctx) => exportActivities(ctx, query)),
  route(activitiesApi.stream, ({ query }, ctx) => streamActivities(ctx, query)),
  route(activitiesApi.verify, async ({ query: { from, limit, known: anchor } }, { store }) => {
    const [position, hash] = anchor?.split(":") ?? [];
    return verifyChain(store, {
      from,
      limit,
      ...(hash === undefined ? {} : { noted: { position: Number(position), hash } }),
    });
  }),
];
