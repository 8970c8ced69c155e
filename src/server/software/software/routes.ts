import { softwareApi } from "../../../api/software/software.ts";
import { route } from "../../platform/core/http/route.ts";
import { getTitle, listTitles } from "./titles/lists.ts";
import { renameTitle } from "./titles/names.ts";
import { countVersions, getVersion, listVersions } from "./version-lists.ts";
import { withImportTime } from "./vulnerabilities/imported.ts";

export const softwareRoutes = [
  route(softwareApi.titles, ({ query }, ctx) => withImportTime(ctx, listTitles(ctx, query))),
  route(softwareApi.title, ({ params, query }, ctx) => withImportTime(ctx, getTitle(ctx, params.id, query.team_id))),
  route(softwareApi.rename, ({ params, body }, ctx) => renameTitle(ctx, params.id, body.name)),
  route(softwareApi.versions, ({ query }, ctx) => withImportTime(ctx, listVersions(ctx, query))),
  route(softwareApi.count, ({ query }, ctx) => countVersions(ctx, query)),
  route(softwareApi.version, ({ params, query }, ctx) =>
    withImportTime(ctx, getVersion(ctx, params.id, query.team_id)),
  ),
];
