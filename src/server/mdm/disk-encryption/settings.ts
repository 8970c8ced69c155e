// Turns disk encryption on or off: a setting of a team's `mdm`, or of the organization's for hosts without a team.
import type { DiskEncryptionSettings } from "../../../api/disk-encryption.ts";
import { setMdmSettings } from "../../app-config/service.ts";
import type { Context } from "../../core/context.ts";
import { invalid } from "../../core/errors.ts";
import { authorize } from "../../core/security/access.ts";
import { getTeamRow } from "../../teams/access.ts";
import { mdmOfTeam } from "../../teams/mdm.ts";
import { setTeamSettings } from "../../teams/service.ts";

export async function changeDiskEncryption(
  ctx: Context,
  { team_id, ...given }: DiskEncryptionSettings,
): Promise<Record<string, never>> {
  const teamId = team_id || null;
  if (teamId === null) authorize(ctx, "setup:write", null);
  else await getTeamRow(ctx, "setup:write", teamId);
  const before = await mdmOfTeam({ store: ctx.store, config: ctx.config.over(ctx.store) }, teamId);
  const isOn = given.enable_disk_encryption ?? before.enable_disk_encryption;
  if (given.windows_require_bitlocker_pin && !isOn)
    throw invalid("windows_require_bitlocker_pin", "needs enable_disk_encryption to be true");
  // Without encryption there is nothing that a PIN could protect.
  const mdm = isOn ? given : { ...given, windows_require_bitlocker_pin: false };
  if (teamId === null) await setMdmSettings(ctx, mdm);
  else await setTeamSettings(ctx, teamId, { mdm });
  return {};
}
