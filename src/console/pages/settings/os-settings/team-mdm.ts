// The settings for operating systems of a team; those of hosts without a team are the organization's.
import type { UseQueryResult } from "@tanstack/react-query";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import type { OsSettings } from "../../../../api/settings/os-settings.ts";
import { teamsApi } from "../../../../api/settings/teams.ts";
import { client, useRead } from "../../../api.ts";
import { may } from "../../../session.ts";

type TeamMdmReply = UseQueryResult<{ readonly mdm: OsSettings }>;

export function useTeamMdm(teamId: number): TeamMdmReply {
  const config = useRead(appConfigApi.get, {}, { enabled: teamId === 0 });
  const team = useRead(teamsApi.get, { params: { id: String(teamId) } }, { enabled: teamId !== 0 });
  if (teamId === 0) return config;
  return { ...team, data: team.data?.team } as TeamMdmReply;
}

/** The endpoints that return the settings. */
export const teamMdmEndpoints = [appConfigApi.get, teamsApi.get] as const;

export const mayChangeTeamMdm = (teamId: number): boolean =>
  teamId === 0 ? may("config:write", null) : may("teams:edit", teamId);

/** Changes settings below `mdm`. */
export const changeTeamMdm = (
  teamId: number,
  body: Record<string, unknown>,
  options: { readonly dryRun?: boolean } = {},
): Promise<unknown> =>
  teamId === 0
    ? client.call(appConfigApi.modify, { body: body as never }, options)
    : client.call(teamsApi.modify, { params: { id: String(teamId) }, body }, options);
