import { setupExperienceApi } from "../../../api/delivery/setup-experience.ts";
import { setupResultsApi } from "../../../api/delivery/setup-results.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { addSetupScript, deleteSetupScript, downloadSetupScript, getSetupScript } from "./script.ts";
import { agreed, listSetupSoftware, setSetupSoftware } from "./software.ts";
import { setupOfHost } from "./view.ts";

export const setupItemRoutes: readonly Route[] = [
  route(setupExperienceApi.software, ({ query }, ctx) => listSetupSoftware(ctx, query)),
  route(setupExperienceApi.setSoftware, ({ query, body }, ctx) =>
    setSetupSoftware(ctx, {
      platform: agreed("platform", body.platform, query.platform) ?? "darwin",
      team_id: agreed("team_id", body.team_id, query.team_id),
      software_title_ids: body.software_title_ids,
    }),
  ),
  route(setupExperienceApi.addScript, ({ body }, ctx) => addSetupScript(ctx, body.team_id, body.script)),
  route(setupExperienceApi.script, ({ query }, ctx) =>
    query.alt === "media" ? downloadSetupScript(ctx, query.team_id) : getSetupScript(ctx, query.team_id),
  ),
  route(setupExperienceApi.deleteScript, ({ query }, ctx) => deleteSetupScript(ctx, query.team_id)),
  route(setupResultsApi.ofHost, ({ params }, ctx) => setupOfHost(ctx, params.id)),
];
