import { abmApi } from "../../../../api/devices/abm.ts";
import { olderApi } from "../../../../api/devices/older.ts";
import { setupAssistantsApi } from "../../../../api/devices/setup-assistants.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { deleteAssistant, getAssistant, getDefaultAssistant, setAssistant } from "./assistants.ts";
import { assignmentOf, releaseHosts } from "./hosts.ts";
import { deleteToken } from "./sync.ts";
import { addToken, businessManager, countTokens, listTokens, publicKey, renewToken, setTokenTeams } from "./tokens.ts";

export const portalRoutes: readonly Route[] = [
  route(abmApi.publicKey, (_input, ctx) => publicKey(ctx)),
  route(olderApi.keyPair, (_input, ctx) => publicKey(ctx)),
  route(abmApi.add, ({ body }, ctx) => addToken(ctx, Buffer.from(body.token.bytes))),
  route(abmApi.renew, ({ params, body }, ctx) => renewToken(ctx, params.id, Buffer.from(body.token.bytes))),
  route(abmApi.list, (_input, ctx) => listTokens(ctx)),
  route(abmApi.count, (_input, ctx) => countTokens(ctx)),
  route(abmApi.teams, ({ params, body }, ctx) => setTokenTeams(ctx, params.id, body)),
  route(abmApi.delete, ({ params }, ctx) => deleteToken(ctx, params.id)),
  route(abmApi.businessManager, (_input, ctx) => businessManager(ctx)),
  route(abmApi.assignment, ({ params }, ctx) => assignmentOf(ctx, params.id)),
  route(abmApi.release, ({ body }, ctx) => releaseHosts(ctx, body.ids)),
  route(setupAssistantsApi.set, ({ body }, ctx) => setAssistant(ctx, body)),
  route(setupAssistantsApi.get, ({ query }, ctx) => getAssistant(ctx, query.team_id)),
  route(setupAssistantsApi.getDefault, (_input, ctx) => getDefaultAssistant(ctx)),
  route(setupAssistantsApi.delete, ({ query }, ctx) => deleteAssistant(ctx, query.team_id)),
];
