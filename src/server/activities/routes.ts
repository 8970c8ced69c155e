import { activitiesApi } from "../../api/activities.ts";
import { route } from "../core/route.ts";
import { listActivities } from "./service.ts";

export const activityRoutes = [
  route(activitiesApi.list, async ({ query }, ctx, reply) => {
    const { reply: found, total } = await listActivities(ctx, query);
    if (total !== null) reply.headers["x-total-count"] = String(total);
    return found;
  }),
];
