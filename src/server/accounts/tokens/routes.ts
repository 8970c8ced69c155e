import { tokensApi } from "../../../api/accounts/tokens.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { createToken, deleteToken, listTokens } from "./service.ts";

export const tokenRoutes: readonly Route[] = [
  route(tokensApi.list, ({ query }, ctx) => listTokens(ctx, query)),
  route(tokensApi.create, ({ body }, ctx) => createToken(ctx, body)),
  route(tokensApi.delete, ({ params }, ctx) => deleteToken(ctx, params.id)),
];
