import { conditionalAccessApi, conditionalAccessIdpApi } from "../../../api/automations/conditional-access.ts";
import { answerScep } from "../../certificates/device-ca/scep-server.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { issuing } from "./certificates.ts";
import { directoryConnection, hostAccess } from "./compliance/view.ts";
import { beginConnection, confirmConnection, removeConnection } from "./directory.ts";
import { idpMetadata } from "./metadata.ts";
import { postingPage } from "./page.ts";
import { accessProfile, PROFILE_FILE } from "./profile.ts";
import { answerSignIn } from "./sign-in.ts";
import { signingKey } from "./signing.ts";

export const conditionalAccessRoutes: readonly Route[] = [
  route(conditionalAccessApi.directory, (_, ctx) => directoryConnection(ctx)),
  route(conditionalAccessApi.host, ({ params }, ctx) => hostAccess(ctx, params.id)),
  route(conditionalAccessApi.signingCert, async (_, ctx) => ({
    content: (await signingKey(ctx)).certificate,
    name: "conditional-access.pem",
  })),
  route(conditionalAccessApi.profile, async (_, ctx) => ({ content: await accessProfile(ctx), name: PROFILE_FILE })),
  route(conditionalAccessApi.connect, ({ body }, ctx) => beginConnection(ctx, body.directory_tenant_id)),
  route(conditionalAccessApi.confirm, (_, ctx) => confirmConnection(ctx)),
  route(conditionalAccessApi.disconnect, (_, ctx) => removeConnection(ctx)),
];

export const conditionalAccessIdpRoutes: readonly Route[] = [
  route(conditionalAccessIdpApi.metadata, async (_, ctx) => ({ content: await idpMetadata(ctx) })),
  route(conditionalAccessIdpApi.sso, async ({ body }, ctx, reply) => {
    const outcome = await answerSignIn(ctx, body.SAMLRequest);
    if ("redirect" in outcome) {
      reply.status = 303;
      reply.headers.location = outcome.redirect;
      return { content: "" };
    }
    const { html, headers } = postingPage({ ...outcome, relayState: body.RelayState ?? null });
    Object.assign(reply.headers, headers);
    return { content: html };
  }),
  route(conditionalAccessIdpApi.scepGet, ({ query: { operation, message = "" } }, ctx) =>
    answerScep(ctx, { operation, message }, issuing(ctx)),
  ),
  route(conditionalAccessIdpApi.scepPost, ({ query, body }, ctx) =>
    answerScep(ctx, { ...query, message: body.bytes }, issuing(ctx)),
  ),
];
