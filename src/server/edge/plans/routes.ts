import { plansApi } from "../../../api/edge/plans.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { createPlan } from "./create.ts";
import { applyPlan, deletePlan, getPlan, listPlans } from "./service.ts";

export const planRoutes: readonly Route[] = [
  route(plansApi.list, ({ query }, ctx) => listPlans(ctx, query)),
  route(plansApi.get, async ({ params }, ctx) => ({ plan: await getPlan(ctx, params.id) })),
  route(plansApi.create, async ({ body }, ctx) => ({ plan: await createPlan(ctx, body) })),
  route(plansApi.apply, async ({ params }, ctx) => ({ plan: await applyPlan(ctx, params.id) })),
  route(plansApi.delete, async ({ params }, ctx) => {
    await deletePlan(ctx, params.id);
    return {};
  }),
];
