// Settings of the setup of devices: fields of a team's `mdm.macos_setup`, or of the organization's for no team.
import type { SetupSwitches } from "../../../../api/settings/app-config.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { authorize } from "../../../platform/core/security/access.ts";
import { setMdmSettings } from "../../../settings/app-config/service.ts";
import { getTeamRow } from "../../../settings/teams/access.ts";
import { mdmOfTeam } from "../../../settings/teams/mdm.ts";
import { setTeamSettings } from "../../../settings/teams/service.ts";

/** The settings of a team, or of no team, as the caller's transaction sees them. */
export async function setupSettings({ store, config }: Context, teamId: number | null): Promise<SetupSwitches> {
  return (await mdmOfTeam({ store, config: config.over(store) }, teamId)).macos_setup;
}

type SetupChange = { [K in keyof SetupSwitches]?: SetupSwitches[K] | undefined } & {
  team_id?: number | null | undefined;
};

export async function changeSetup(ctx: Context, { team_id, ...change }: SetupChange): Promise<Record<string, never>> {
  const teamId = team_id || null;
  if (teamId === null) authorize(ctx, "setup:write", null);
  else await getTeamRow(ctx, "setup:write", teamId);
  await checkAccounts(ctx, teamId, change);
  if (change.enable_end_user_authentication) await requireIdentityProvider(ctx);
  const mdm = { macos_setup: change };
  if (teamId === null) await setMdmSettings(ctx, mdm);
  else await setTeamSettings(ctx, teamId, { mdm }, { isGated: false });
  return {};
}

/** The settings' own rule names their place in the configuration; this names the field of the request. */
async function checkAccounts(ctx: Context, teamId: number | null, change: SetupChange): Promise<void> {
  const before = await setupSettings(ctx, teamId);
  // Turning the managed account off resets the type.
  const kept = change.enable_managed_local_account === false ? "admin" : before.end_user_local_account_type;
  const type = change.end_user_local_account_type ?? kept;
  if (type !== "admin" && !(change.enable_managed_local_account ?? before.enable_managed_local_account))
    throw invalid("end_user_local_account_type", "needs enable_managed_local_account to be true");
}

async function requireIdentityProvider({ config, store }: Context): Promise<void> {
  const { end_user_authentication: provider } = (await config.over(store).current()).mdm;
  if (Object.values(provider).every((text) => text === ""))
    throw invalid("mdm.end_user_authentication", "must be set first: it names the identity provider");
}
