import { configurationApi } from "../../../api/edge/configuration.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { applyFiles } from "./apply.ts";
import { configurationState } from "./state.ts";

export const configurationRoutes: readonly Route[] = [
  route(configurationApi.state, ({ body }, ctx) => configurationState(ctx, body)),
  route(configurationApi.apply, ({ body }, ctx) => applyFiles(ctx, body)),
];
