import { ssoApi } from "../../../api/accounts/sso.ts";
import type { Context } from "../../platform/core/context.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { finishSso } from "./callback.ts";
import { exchangeCliCode } from "./cli-code.ts";
import { endedCookie } from "./session.ts";
import { spMetadata } from "./sp-metadata.ts";
import { ssoInfo, startSso } from "./start.ts";

const textBody = (text: string): ReadableStream<Uint8Array> => new Blob([text]).stream();

/** The page that signs a browser in and goes on to the path. */
type SignInPage = (ctx: Context, sessionToken: string, relayUrl: string) => Promise<Response>;

export const ssoRoutes = (signInPage: SignInPage): readonly Route[] => [
  route(ssoApi.settings, async (_, ctx) => ({ settings: await ssoInfo(ctx) })),
  route(ssoApi.start, async ({ body }, ctx, reply) => {
    const { url, cookie } = await startSso(ctx, body.relay_url);
    reply.headers["set-cookie"] = cookie;
    return { url };
  }),
  route(ssoApi.callback, async ({ body }, ctx, reply) => {
    const outcome = await finishSso(ctx, body.SAMLResponse);
    if (outcome.status !== undefined) {
      reply.status = 303;
      reply.headers.location = `/login?status=${outcome.status}`;
      reply.headers["set-cookie"] = endedCookie;
      return { body: textBody(""), headers: {} };
    }
    const page = await signInPage(ctx, outcome.token, outcome.relayUrl);
    page.headers.append("set-cookie", endedCookie);
    return { body: page.body ?? textBody(""), headers: page.headers };
  }),
  route(ssoApi.metadata, async (_, ctx) => ({ content: await spMetadata(ctx) })),
  route(ssoApi.cliToken, ({ body }, ctx) => exchangeCliCode(ctx, body)),
];
