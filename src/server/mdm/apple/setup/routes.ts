import { setupExperienceApi } from "../../../../api/setup-experience.ts";
import { type Route, route } from "../../../core/http/route.ts";
import { changeSetup } from "./settings.ts";

export const setupExperienceRoutes: readonly Route[] = [
  route(setupExperienceApi.change, ({ body }, ctx) => changeSetup(ctx, body)),
  route(setupExperienceApi.localAccount, ({ body }, ctx) => changeSetup(ctx, body)),
];
