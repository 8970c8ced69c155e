import { activitiesApi } from "../../api/activities.ts";
import { route } from "../core/route.ts";
import { listActivities } from "./service.ts";

export const activityRoutes = [route(activitiesApi.list, ({ query }, ctx) => listActivities(ctx, query))];
