import { logoApi } from "../../../api/settings/logo.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { deleteLogo, downloadLogo, setLogo } from "./service.ts";

export const logoRoutes: readonly Route[] = [
  route(logoApi.get, ({ query }, ctx) => downloadLogo(ctx, query.mode)),
  route(logoApi.set, ({ query, body }, ctx) => setLogo(ctx, query.mode, body.logo)),
  route(logoApi.delete, ({ query }, ctx) => deleteLogo(ctx, query.mode)),
];
