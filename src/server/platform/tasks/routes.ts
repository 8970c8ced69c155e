import { tasksApi } from "../../../api/platform/tasks.ts";
import { type Route, route } from "../core/http/route.ts";
import { listTaskHosts } from "./hosts.ts";
import { cancelTask, getTask, listTasks } from "./view.ts";

export const taskRoutes: readonly Route[] = [
  route(tasksApi.list, ({ query }, ctx) => listTasks(ctx, query)),
  route(tasksApi.get, async ({ params }, ctx) => ({ task: await getTask(ctx, params.id) })),
  route(tasksApi.hosts, ({ params, query }, ctx) => listTaskHosts(ctx, params.id, query)),
  route(tasksApi.cancel, async ({ params }, ctx) => ({ task: await cancelTask(ctx, params.id) })),
];
