import { appConfigApi } from "../../../api/settings/app-config.ts";
import { enrollSecretsApi } from "../../../api/settings/enroll-secrets.ts";
import { teamsApi } from "../../../api/settings/teams.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { modifyConfig } from "../app-config/service.ts";
import { setTeamAgentOptions } from "./agent-options.ts";
import { dropIntegrations } from "./integrations.ts";
import { getNoTeam, modifyNoTeam } from "./no-team.ts";
import { setTeamSecrets, teamSecrets } from "./secrets.ts";
import { createTeam, getTeam, listTeams, modifyTeam } from "./service.ts";
import { applyTeamSpecs } from "./specs.ts";
import { addTeamUsers, listTeamUsers, removeTeamUsers } from "./users.ts";

/** Teams lose integrations that the organization no longer has. */
export const configChangeRoutes: readonly Route[] = [
  route(appConfigApi.modify, ({ body, query }, ctx) =>
    modifyConfig(ctx, body, { ...query, integrationsChanged: dropIntegrations }),
  ),
];

export const teamRoutes: readonly Route[] = [
  route(teamsApi.list, ({ query }, ctx) => listTeams(ctx, query)),
  route(teamsApi.get, ({ params }, ctx) => getTeam(ctx, params.id)),
  route(teamsApi.create, ({ body }, ctx) => createTeam(ctx, body)),
  route(teamsApi.applySpecs, ({ body, query }, ctx) => applyTeamSpecs(ctx, body.specs, query)),
  route(teamsApi.modify, ({ params, body }, ctx) => modifyTeam(ctx, params.id, body)),
  route(teamsApi.noTeam, (_, ctx) => getNoTeam(ctx)),
  route(teamsApi.modifyNoTeam, ({ body }, ctx) => modifyNoTeam(ctx, body)),
  route(teamsApi.users, ({ params, query }, ctx) => listTeamUsers(ctx, params.id, query)),
  route(teamsApi.addUsers, ({ params, body }, ctx) => addTeamUsers(ctx, params.id, body.users)),
  route(teamsApi.removeUsers, ({ params, body }, ctx) => removeTeamUsers(ctx, params.id, body.users)),
  route(enrollSecretsApi.getTeam, async ({ params }, ctx) => ({ secrets: await teamSecrets(ctx, params.id) })),
  route(enrollSecretsApi.setTeam, async ({ params, body }, ctx) => ({
    secrets: await setTeamSecrets(ctx, params.id, body.secrets),
  })),
  route(teamsApi.agentOptions, ({ params, query, body }, ctx) => setTeamAgentOptions(ctx, params.id, body, query)),
];
