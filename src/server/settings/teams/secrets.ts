import type { EnrollSecret } from "../../../api/settings/enroll-secrets.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { changingSecrets, replaceSecrets, secretsOf } from "../enroll-secrets/service.ts";
import { authorizeTeam, getTeamRow } from "./access.ts";

/** The team's enroll secrets. Empty for a team that does not exist. */
export async function teamSecrets(ctx: Context, id: number): Promise<EnrollSecret[]> {
  authorizeTeam(ctx, "enroll_secrets:read", id);
  return secretsOf(ctx, id);
}

/** Returns the secrets after the change. Null if none is left. */
export async function setTeamSecrets(
  ctx: Context,
  id: number,
  inputs: readonly { readonly secret: string; readonly expires_at?: string | null | undefined }[],
): Promise<EnrollSecret[] | null> {
  return changingSecrets(ctx, async (inside) => {
    const team = await getTeamRow(inside, "enroll_secrets:write", id);
    if (await replaceSecrets(inside, id, inputs))
      await recordActivity(inside, "edited_enroll_secrets", { team_id: id, team_name: team.name });
    const secrets = await secretsOf(inside, id);
    return secrets.length === 0 ? null : secrets;
  });
}
