import { queriesApi } from "../../../api/checks/queries.ts";
import { scheduleApi } from "../../../api/checks/schedule.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { hostReport, queryReport } from "./report.ts";
import { reportCsv } from "./report-csv.ts";
import { createEntry, deleteEntry, listEntries, modifyEntry } from "./schedule.ts";
import {
  createQuery,
  deleteQueries,
  deleteQuery,
  deleteQueryByName,
  getQuery,
  listQueries,
  modifyQuery,
  refuseTwins,
} from "./service.ts";
import { applyQuerySpecs, getQuerySpec, listQuerySpecs } from "./specs.ts";

export const queryRoutes: readonly Route[] = [
  route(queriesApi.list, ({ query }, ctx) => listQueries(ctx, query)),
  route(queriesApi.get, async ({ params }, ctx) => ({ query: await getQuery(ctx, params.id) })),
  route(queriesApi.create, async ({ body }, ctx) => ({ query: await refuseTwins(createQuery(ctx, body), body.name) })),
  route(queriesApi.modify, async ({ params, body }, ctx) => ({
    query: await refuseTwins(modifyQuery(ctx, params.id, body), body.name),
  })),
  route(queriesApi.deleteByName, async ({ params, body }, ctx) => {
    await deleteQueryByName(ctx, params.name, body?.team_id || null);
    return {};
  }),
  route(queriesApi.delete, async ({ params }, ctx) => {
    await deleteQuery(ctx, params.id);
    return {};
  }),
  route(queriesApi.deleteMany, async ({ body }, ctx) => ({ deleted: await deleteQueries(ctx, body.ids) })),
  route(queriesApi.report, ({ params, query }, ctx) => queryReport(ctx, params.id, query.team_id)),
  route(queriesApi.reportCsv, ({ params, query }, ctx) => reportCsv(ctx, params.id, query.team_id)),
  route(queriesApi.hostReport, ({ params }, ctx) => hostReport(ctx, params.id, params.query_id)),
  route(queriesApi.applySpecs, async ({ body }, ctx) => {
    await applyQuerySpecs(ctx, body.specs);
    return {};
  }),
  route(queriesApi.specs, async ({ query }, ctx) => ({ specs: await listQuerySpecs(ctx, query.team_id) })),
  route(queriesApi.spec, async ({ params, query }, ctx) => ({
    specs: await getQuerySpec(ctx, params.name, query.team_id),
  })),

  route(scheduleApi.list, async ({ query }, ctx) => ({ global_schedule: await listEntries(ctx, null, query) })),
  route(scheduleApi.create, async ({ body }, ctx) => ({ scheduled: await createEntry(ctx, null, body) })),
  route(scheduleApi.modify, async ({ params, body }, ctx) => ({
    scheduled: await modifyEntry(ctx, null, params.id, body),
  })),
  route(scheduleApi.delete, async ({ params }, ctx) => {
    await deleteEntry(ctx, null, params.id);
    return {};
  }),
  route(scheduleApi.teamList, async ({ params, query }, ctx) => ({
    scheduled: await listEntries(ctx, params.id, query),
  })),
  route(scheduleApi.teamCreate, async ({ params, body }, ctx) => ({
    scheduled: await createEntry(ctx, params.id, body),
  })),
  route(scheduleApi.teamModify, async ({ params, body }, ctx) => {
    await modifyEntry(ctx, params.team_id, params.scheduled_query_id, body);
    return {};
  }),
  route(scheduleApi.teamDelete, async ({ params }, ctx) => {
    await deleteEntry(ctx, params.team_id, params.scheduled_query_id);
    return {};
  }),
];
