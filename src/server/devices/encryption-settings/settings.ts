// Turns disk encryption on or off: settings of a team's `mdm`, or of the organization's for hosts without a team.

import type { DiskEncryptionSettings } from "../../../api/devices/disk-encryption.ts";
import type { DiskEncryption } from "../../../api/settings/os-settings.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { authorize } from "../../platform/core/security/access.ts";
import { mustEncrypt } from "../../settings/app-config/sections/mdm-rules.ts";
import { setMdmSettings } from "../../settings/app-config/service.ts";
import { getTeamRow } from "../../settings/teams/access.ts";
import { mdmOfTeam } from "../../settings/teams/mdm.ts";
import { setTeamSettings } from "../../settings/teams/service.ts";

export async function changeDiskEncryption(
  ctx: Context,
  { team_id, ...change }: DiskEncryptionSettings,
): Promise<Record<string, never>> {
  const teamId = team_id || null;
  if (teamId === null) authorize(ctx, "setup:write", null);
  else await getTeamRow(ctx, "setup:write", teamId);
  checkMacs(change);
  const before = await mdmOfTeam({ store: ctx.store, config: ctx.config.over(ctx.store) }, teamId);
  const { enable_disk_encryption } = change;
  const disk_encryption = platformsOf(change);
  const isOn = mustEncrypt(
    {
      enable_disk_encryption: enable_disk_encryption ?? before.enable_disk_encryption,
      disk_encryption: { ...before.disk_encryption, ...disk_encryption },
    },
    "windows",
  );
  const pin = change.windows_settings?.require_bitlocker_pin ?? change.windows_require_bitlocker_pin;
  if (pin && !isOn) throw invalid("windows_require_bitlocker_pin", "needs enable_disk_encryption to be true");
  const mdm = {
    ...(enable_disk_encryption === undefined ? {} : { enable_disk_encryption }),
    disk_encryption,
    // Without encryption there is nothing that a PIN could protect.
    ...(isOn && pin === undefined ? {} : { windows_require_bitlocker_pin: isOn && pin === true }),
  };
  if (teamId === null) await setMdmSettings(ctx, mdm);
  else await setTeamSettings(ctx, teamId, { mdm }, { isGated: false });
  return {};
}

function checkMacs({ macos_settings: macs }: DiskEncryptionSettings): void {
  if (macs === undefined || macs.enable_escrow_disk_encryption_key === undefined) return;
  if (macs.enable_escrow_disk_encryption_key !== macs.enable_disk_encryption)
    throw invalid(
      "macos_settings.enable_escrow_disk_encryption_key",
      "must have the value of macos_settings.enable_disk_encryption: Macs are encrypted and send their key, or neither",
    );
}

/** What is set for all platforms replaces what single platforms have had. */
function platformsOf(change: DiskEncryptionSettings): Partial<DiskEncryption> {
  const { macos_settings: macs, windows_settings: windows, linux_settings: linux } = change;
  const none = change.enable_disk_encryption === undefined ? undefined : null;
  const switches = {
    macos: macs?.enable_disk_encryption ?? none,
    windows: windows?.enable_disk_encryption ?? none,
    linux: linux?.enable_escrow_disk_encryption_key ?? none,
  };
  return Object.fromEntries(Object.entries(switches).filter(([, value]) => value !== undefined));
}
