import { hostActivitiesApi } from "../../../api/hosts/host-activities.ts";
import { route } from "../../platform/core/http/route.ts";
import { cancelUpcoming, listHostActivities, listUpcoming } from "./host-activities.ts";

export const hostActivityRoutes = [
  route(hostActivitiesApi.list, ({ params, query }, ctx) => listHostActivities(ctx, params.id, query)),
  route(hostActivitiesApi.upcoming, ({ params, query }, ctx) => listUpcoming(ctx, params.id, query)),
  route(hostActivitiesApi.cancel, async ({ params }, ctx) => {
    await cancelUpcoming(ctx, params.id, params.activity_id);
    return {};
  }),
];
