import { hostsApi } from "../../api/hosts.ts";
import { route } from "../core/route.ts";
import { titlesOfHost } from "../software/service.ts";
import { hostFor } from "./access.ts";
import { deleteHost, deleteManyHosts } from "./delete.ts";
import { explainHost } from "./explain.ts";
import { countHosts, listHosts, totalOfList } from "./list.ts";
import { reportHosts } from "./report.ts";
import { getHost, getHostByIdentifier, refetchHost } from "./service.ts";
import { summarizeHosts } from "./summary.ts";
import { transferHosts } from "./transfer.ts";

export const hostRoutes = [
  route(hostsApi.list, async ({ query }, ctx, reply) => {
    const found = await listHosts(ctx, query);
    if (query.with_count) reply.headers["x-total-count"] = String(await totalOfList(ctx, query));
    return found;
  }),
  route(hostsApi.count, async ({ query }, ctx) => ({ count: await countHosts(ctx, query) })),
  route(hostsApi.summary, ({ query }, ctx) => summarizeHosts(ctx, query)),
  route(hostsApi.report, async ({ query }, ctx) => reportHosts(ctx, query)),
  route(hostsApi.transfer, async ({ body }, ctx) => {
    await transferHosts(ctx, body.team_id, { ids: body.hosts });
    return {};
  }),
  route(hostsApi.transferByFilter, async ({ body }, ctx) => {
    await transferHosts(ctx, body.team_id, { filters: body.filters });
    return {};
  }),
  route(hostsApi.explain, ({ params, query }, ctx) => explainHost(ctx, params.id, query.where)),
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
