import { teamsApi } from "../../../api/settings/teams.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { deleteTeam } from "./service.ts";

export const teamRemovalRoutes: readonly Route[] = [
  route(teamsApi.delete, ({ params }, ctx) => deleteTeam(ctx, params.id)),
];
