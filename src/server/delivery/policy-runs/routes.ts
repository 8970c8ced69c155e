import { policyRunsApi } from "../../../api/delivery/policy-runs.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { lastAutomations, listRuns } from "./service.ts";

export const policyRunRoutes: readonly Route[] = [
  route(policyRunsApi.list, ({ params, query }, ctx) => listRuns(ctx, params.id, query)),
  route(policyRunsApi.ofHost, ({ params }, ctx) => lastAutomations(ctx, params.id)),
];
