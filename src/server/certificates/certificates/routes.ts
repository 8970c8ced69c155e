import { certificatesApi as api, certificateAgentApi } from "../../../api/certificates/certificates.ts";
import type { Context } from "../../platform/core/context.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { callingHost } from "../host-authentication/node-key.ts";
import { ownTemplate, reportStatus } from "./hosts.ts";
import { createTemplate, deleteTemplate, deleteTemplates, getTemplate, listTemplates } from "./service.ts";
import { applyTemplateSpecs } from "./specs.ts";

export const certificateRoutes = [
  route(api.create, ({ body }, ctx) => createTemplate(ctx, body)),
  route(api.list, ({ query }, ctx) => listTemplates(ctx, query)),
  route(api.get, ({ params, query }, ctx) => getTemplate(ctx, params.id, query.host_id)),
  route(api.delete, ({ params }, ctx) => deleteTemplate(ctx, params.id)),
  route(api.applySpecs, ({ body }, ctx) => applyTemplateSpecs(ctx, body.specs)),
  route(api.deleteSpecs, ({ body }, ctx) => deleteTemplates(ctx, body.ids, body.team_id || null)),
];

const byKey = { before: async (ctx: Context) => void (await callingHost(ctx)) };

/** The endpoints of the agent on Android. */
export const certificateAgentRoutes: readonly Route[] = [
  route(certificateAgentApi.get, async ({ params }, ctx) => ownTemplate(ctx, await callingHost(ctx), params.id), byKey),
  route(
    certificateAgentApi.status,
    async ({ params, body }, ctx) => reportStatus(ctx, await callingHost(ctx), params.id, body),
    byKey,
  ),
];
