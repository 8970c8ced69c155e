// The template: a setting of a team's `mdm`, or of the organization's for hosts without a team.
import type { z } from "zod";
import type { hostNamesApi } from "../../../api/devices/host-names.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import { setMdmSettings } from "../../settings/app-config/service.ts";
import { teamScope } from "../../settings/teams/access.ts";
import { setTeamSettings } from "../../settings/teams/service.ts";

export async function setNameTemplate(
  ctx: Context,
  { team_id, name_template }: z.output<typeof hostNamesApi.setTemplate.body>,
): Promise<Record<string, never>> {
  const { team_id: teamId } = await teamScope(ctx, "setup:write", team_id);
  const mdm = { name_template };
  try {
    if (teamId === null) await setMdmSettings(ctx, mdm);
    else await setTeamSettings(ctx, teamId, { mdm });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The settings are under `mdm`, the field of this body is not.
    const errors = error.errors.map(({ name, reason }) => ({ name: name.replace(/^mdm\./, ""), reason }));
    throw new ApiError(error.status, error.message, errors);
  }
  return {};
}
