import { policiesApi } from "../../../api/checks/policies.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { autofillPolicy } from "./autofill.ts";
import { countGlobal, countOfTeam, getPolicy, listGlobal, listOfTeam } from "./list.ts";
import { resetAutomations, resetResults } from "./reset.ts";
import { createPolicy, deletePolicies, modifyPolicy } from "./service.ts";
import { applySpecs } from "./specs.ts";

export const policyRoutes: readonly Route[] = [
  route(policiesApi.listGlobal, ({ query }, ctx) => listGlobal(ctx, query)),
  route(policiesApi.countGlobal, ({ query }, ctx) => countGlobal(ctx, query.query)),
  route(policiesApi.getGlobal, ({ params }, ctx) => getPolicy(ctx, null, params.id)),
  route(policiesApi.createGlobal, ({ body }, ctx) => createPolicy(ctx, null, body)),
  route(policiesApi.modifyGlobal, ({ params, body }, ctx) => modifyPolicy(ctx, null, params.id, body)),
  route(policiesApi.deleteGlobal, ({ body }, ctx) => deletePolicies(ctx, null, body.ids)),
  route(policiesApi.listTeam, ({ params, query }, ctx) => listOfTeam(ctx, params.id, query)),
  route(policiesApi.countTeam, ({ params, query }, ctx) => countOfTeam(ctx, params.team_id, query)),
  route(policiesApi.getTeam, ({ params }, ctx) => getPolicy(ctx, params.team_id, params.policy_id)),
  route(policiesApi.createTeam, ({ params, body }, ctx) => createPolicy(ctx, params.id, body)),
  route(policiesApi.modifyTeam, ({ params, body }, ctx) => modifyPolicy(ctx, params.team_id, params.policy_id, body)),
  route(policiesApi.deleteTeam, ({ params, body }, ctx) => deletePolicies(ctx, params.team_id, body.ids)),
  route(policiesApi.resetAutomations, ({ body }, ctx) => resetAutomations(ctx, body)),
  route(policiesApi.reset, ({ params }, ctx) => resetResults(ctx, params.id)),
  route(policiesApi.applySpecs, ({ body }, ctx) => applySpecs(ctx, body.specs)),
  route(policiesApi.autofill, ({ body }, ctx) => autofillPolicy(ctx, body.sql)),
];
