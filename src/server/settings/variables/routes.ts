import { hostVitalsApi, variablesApi } from "../../../api/settings/variables.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { applyVariables, createVariable, deleteVariable, listVariables, modifyVariable } from "./secrets.ts";
import { applyVitals, createVital, deleteVital, listVitals, renameVital } from "./vitals.ts";

export const variableRoutes: readonly Route[] = [
  route(variablesApi.list, ({ query }, ctx) => listVariables(ctx, query)),
  route(variablesApi.create, ({ body }, ctx) => createVariable(ctx, body)),
  route(variablesApi.modify, ({ params, body }, ctx) => modifyVariable(ctx, params.id, body)),
  route(variablesApi.delete, ({ params }, ctx) => deleteVariable(ctx, params.id)),
  route(variablesApi.apply, ({ body }, ctx) => applyVariables(ctx, body)),
  route(hostVitalsApi.list, ({ query }, ctx) => listVitals(ctx, query)),
  route(hostVitalsApi.create, ({ body }, ctx) => createVital(ctx, body.name)),
  route(hostVitalsApi.modify, ({ params, body }, ctx) => renameVital(ctx, params.id, body.name)),
  route(hostVitalsApi.delete, ({ params }, ctx) => deleteVital(ctx, params.id)),
  route(hostVitalsApi.apply, ({ body }, ctx) =>
    applyVitals(
      ctx,
      (body.custom_host_vitals ?? []).map(({ name }) => name),
    ),
  ),
];
