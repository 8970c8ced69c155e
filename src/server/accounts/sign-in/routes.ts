import { sessionsApi } from "../../../api/accounts/sessions.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { deleteSession, deleteSessionsOfUser, getSession, logout, sessionsOfUser } from "../sessions/service.ts";
import { signInByLink } from "./link.ts";
import { login } from "./login.ts";

export const sessionRoutes: readonly Route[] = [
  route(sessionsApi.login, async ({ body }, ctx, reply) => {
    const answer = await login(ctx, body);
    if (!("token" in answer)) reply.status = 202;
    return answer;
  }),
  route(sessionsApi.create, ({ body }, ctx) => signInByLink(ctx, body.token)),
  route(sessionsApi.logout, (_, ctx) => logout(ctx)),
  route(sessionsApi.get, ({ params }, ctx) => getSession(ctx, params.id)),
  route(sessionsApi.delete, ({ params }, ctx) => deleteSession(ctx, params.id)),
  route(sessionsApi.listOfUser, ({ params }, ctx) => sessionsOfUser(ctx, params.id)),
  route(sessionsApi.deleteOfUser, ({ params }, ctx) => deleteSessionsOfUser(ctx, params.id)),
];
