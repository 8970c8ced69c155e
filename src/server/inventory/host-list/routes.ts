import { hostsApi } from "../../../api/inventory/hosts.ts";
import { labelHostsApi } from "../../../api/inventory/label-hosts.ts";
import { selectorsApi } from "../../../api/inventory/selectors.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { type Reply, route } from "../../platform/core/http/route.ts";
import { titlesOfHost } from "../../software/software/service.ts";
import { withImportTime } from "../../software/software/vulnerabilities/imported.ts";
import { getHost, getHostByIdentifier, refetchHost } from "../host-details/service.ts";
import { checkSelector } from "./check-selector.ts";
import { type Deletion, deleteHost, deleteManyHosts } from "./delete.ts";
import { explainHost } from "./explain.ts";
import { countFacets } from "./facets.ts";
import { countHosts, digestHosts, listHosts, totalOfList } from "./list.ts";
import { reportHosts } from "./report.ts";
import { summarizeHosts } from "./summary.ts";
import { transferHosts } from "./transfer.ts";

function withStatus(deletion: Deletion, reply: Reply) {
  if (deletion.outcome !== "done") reply.status = 202;
  if (deletion.outcome === "asked") return { approval: deletion.approval };
  return deletion.outcome === "goes on" ? { task_id: deletion.taskId } : {};
}

export const hostRoutes = [
  route(hostsApi.list, async ({ query }, ctx, reply) => {
    const hosts = await listHosts(ctx, query);
    if (query.with_count) reply.headers["x-total-count"] = String(await totalOfList(ctx, query));
    return hosts;
  }),
  route(labelHostsApi.hosts, ({ params, query }, ctx) => listHosts(ctx, { ...query, label_id: params.id })),
  route(hostsApi.count, async ({ query }, ctx) =>
    query.digest ? digestHosts(ctx, query) : { count: await countHosts(ctx, query) },
  ),
  route(hostsApi.facets, ({ query }, ctx) => countFacets(ctx, query)),
  route(selectorsApi.check, ({ body }, ctx) => checkSelector(ctx, body)),
  route(hostsApi.summary, ({ query }, ctx) => summarizeHosts(ctx, query)),
  route(hostsApi.report, ({ query }, ctx) => reportHosts(ctx, query)),
  route(hostsApi.transfer, async ({ body }, ctx) => {
    await transferHosts(ctx, body.team_id, { ids: body.hosts });
    return {};
  }),
  route(hostsApi.transferByFilter, async ({ body }, ctx) => {
    await transferHosts(ctx, body.team_id, { filters: body.filters });
    return {};
  }),
  route(hostsApi.explain, ({ params, query }, ctx) => explainHost(ctx, params.id, query.where)),
  route(hostsApi.get, async ({ params, query }, ctx) =>
    withImportTime(ctx, { host: await getHost(ctx, params.id, query.exclude_software) }),
  ),
  route(hostsApi.byIdentifier, async ({ params, query }, ctx) =>
    withImportTime(ctx, { host: await getHostByIdentifier(ctx, params.identifier, query.exclude_software) }),
  ),
  route(hostsApi.delete, async ({ params }, ctx, reply) => withStatus(await deleteHost(ctx, params.id), reply)),
  route(hostsApi.deleteMany, async ({ body }, ctx, reply) => withStatus(await deleteManyHosts(ctx, body), reply)),
  route(hostsApi.refetch, async ({ params }, ctx) => {
    await refetchHost(ctx, params.id);
    return {};
  }),
  route(hostsApi.software, async ({ params, query }, ctx) => {
    const host = await hostFor(ctx, "software:list", params.id);
    return withImportTime(ctx, titlesOfHost(ctx, host, query));
  }),
];
