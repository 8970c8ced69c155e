import { hostsApi } from "../../api/hosts.ts";
import { route } from "../core/route.ts";
import { titlesOfHost } from "../software/service.ts";
import { hostFor } from "./access.ts";
import { deleteHost, deleteManyHosts } from "./delete.ts";
import { countHosts, getHost, getHostByIdentifier, listHosts, refetchHost } from "./service.ts";
import { summarizeHosts } from "./summary.ts";

export const hostRoutes = [
  route(hostsApi.list, ({ query }, ctx) => listHosts(ctx, query)),
  route(hostsApi.count, async ({ query }, ctx) => ({ count: await countHosts(ctx, query) })),
  route(hostsApi.summary, ({ query }, ctx) => summarizeHosts(ctx, query)),
  route(hostsApi.get, async ({ params, query }, ctx) => ({
    host: await getHost(ctx, params.id, query.exclude_software),
  })),
  route(hostsApi.byIdentifier, async ({ params, query }, ctx) => ({
    host: await getHostByIdentifier(ctx, params.identifier, query.exclude_software),
  })),
  route(hostsApi.delete, async ({ params }, ctx) => {
    await deleteHost(ctx, params.id);
    return {};
  }),
  route(hostsApi.deleteMany, async ({ body }, ctx, reply) => {
    if ((await deleteManyHosts(ctx, body)) === "goes on") reply.status = 202;
    return {};
  }),
  route(hostsApi.refetch, async ({ params }, ctx) => {
    await refetchHost(ctx, params.id);
    return {};
  }),
  route(hostsApi.software, async ({ params, query }, ctx) => {
    const host = await hostFor(ctx, "software:list", params.id);
    return titlesOfHost(ctx.store, host.id, query);
  }),
];
