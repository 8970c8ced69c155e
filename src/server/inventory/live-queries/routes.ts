import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { route } from "../../platform/core/http/route.ts";
import { queryHost, queryHostByIdentifier, runSavedQueries, runSavedQuery } from "./run.ts";
import {
  assertEnabled,
  cancelLiveQuery,
  createLiveQuery,
  listLiveQueries,
  ownCampaign,
  startByNames,
  startForSocket,
} from "./service.ts";
import { streamLiveQuery } from "./stream.ts";
import { liveQueryOf } from "./view.ts";

export const liveQueryRoutes = [
  route(liveQueriesApi.onHost, ({ params, body }, ctx) => queryHost(ctx, params.id, body.query)),
  route(liveQueriesApi.onHostByIdentifier, ({ params, body }, ctx) =>
    queryHostByIdentifier(ctx, params.identifier, body.query),
  ),
  route(liveQueriesApi.runSaved, ({ params, body }, ctx) => runSavedQuery(ctx, params.id, body.host_ids)),
  route(liveQueriesApi.runMany, ({ query }, ctx) => runSavedQueries(ctx, query.query_ids, query.host_ids)),
  route(liveQueriesApi.start, async ({ body }, ctx) => ({ campaign: await startForSocket(ctx, body) })),
  route(liveQueriesApi.startByNames, async ({ body }, ctx) => ({ campaign: await startByNames(ctx, body) })),
  route(liveQueriesApi.create, async ({ body }, ctx) => ({ live_query: await createLiveQuery(ctx, body) })),
  route(liveQueriesApi.list, ({ query }, ctx) => listLiveQueries(ctx, query)),
  route(liveQueriesApi.get, async ({ params }, ctx) => ({
    live_query: liveQueryOf(await ownCampaign(ctx, params.id)),
  })),
  route(liveQueriesApi.stream, ({ params }, ctx) => streamLiveQuery(ctx, params.id)),
  route(liveQueriesApi.cancel, async ({ params }, ctx) => ({ live_query: await cancelLiveQuery(ctx, params.id) })),
  route(liveQueriesApi.socketInfo, async (_, { random }) => ({
    websocket: true as const,
    origins: ["*:*"],
    cookie_needed: false as const,
    entropy: random.int(2 ** 31),
  })),
  route(liveQueriesApi.status, async (_, ctx) => {
    await assertEnabled(ctx);
    return {};
  }),
  // Reading suffices as a check: a store that cannot be read cannot be written either.
  route(liveQueriesApi.resultStore, async (_, { store }) => {
    await store.campaigns.first({});
    return {};
  }),
];
