import { setupExperienceApi } from "../../../../api/delivery/setup-experience.ts";
import { bootstrapApi } from "../../../../api/devices/bootstrap.ts";
import { eulaApi } from "../../../../api/devices/eula.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { addPackage, deletePackage, describePackage, downloadPackage, packageSummary } from "./bootstrap.ts";
import { addEula, deleteEula, describeEula, downloadEula } from "./eula.ts";
import { changeSetup } from "./settings.ts";

export const setupExperienceRoutes: readonly Route[] = [
  route(bootstrapApi.upload, ({ body }, ctx) => addPackage(ctx, body)),
  route(bootstrapApi.metadata, ({ params, query }, ctx) => describePackage(ctx, params.team_id, query.for_update)),
  route(bootstrapApi.delete, ({ params }, ctx) => deletePackage(ctx, params.team_id)),
  route(bootstrapApi.download, ({ query }, ctx) => downloadPackage(ctx, query.token)),
  route(bootstrapApi.summary, ({ query }, ctx) => packageSummary(ctx, query.team_id)),
  route(eulaApi.upload, ({ body }, ctx) => addEula(ctx, body.eula)),
  route(eulaApi.metadata, (_input, ctx) => describeEula(ctx)),
  route(eulaApi.download, ({ params }, ctx) => downloadEula(ctx, params.token)),
  route(eulaApi.delete, ({ params }, ctx) => deleteEula(ctx, params.token)),
  route(setupExperienceApi.change, ({ body }, ctx) => changeSetup(ctx, body)),
  route(setupExperienceApi.localAccount, ({ body }, ctx) => changeSetup(ctx, body)),
];
