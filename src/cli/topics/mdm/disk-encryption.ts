import * as Flags from "@oclif/core/flags";
import type { diskEncryptionApi } from "../../../api/devices/disk-encryption.ts";
import type { ClientCommand } from "../../client-command.ts";
import { dryRunFlag, teamFlag } from "../../flags.ts";

export const diskEncryptionFlags = {
  ...teamFlag,
  ...dryRunFlag,
  platform: Flags.string({
    summary: "Only on these platforms; can be given several times. Default: on all of them.",
    options: ["macos", "windows", "linux"],
    multiple: true,
  }),
};

/** Turns disk encryption of a team on or off; `endpoint` is either of the two paths of one endpoint. */
export async function changeDiskEncryption(
  command: ClientCommand,
  endpoint: typeof diskEncryptionApi.change | typeof diskEncryptionApi.changeByPatch,
  flags: { team?: string | undefined; platform?: readonly string[] | undefined; "dry-run"?: boolean },
  isOn: boolean,
  pin?: boolean,
): Promise<void> {
  const platforms = flags.platform ?? [];
  const body = {
    ...(await command.teamFilter(flags.team)),
    ...(platforms.length === 0 ? { enable_disk_encryption: isOn } : {}),
    ...(platforms.includes("macos") ? { macos_settings: { enable_disk_encryption: isOn } } : {}),
    ...(platforms.includes("windows") ? { windows_settings: { enable_disk_encryption: isOn } } : {}),
    ...(platforms.includes("linux") ? { linux_settings: { enable_escrow_disk_encryption_key: isOn } } : {}),
    ...(pin === undefined ? {} : { windows_require_bitlocker_pin: pin }),
  };
  const whose = flags.team === undefined ? "hosts without a team" : `team ${flags.team}`;
  const what = `disk encryption of ${whose}${platforms.length === 0 ? "" : ` on ${platforms.join(", ")}`}`;
  const onOff = isOn ? "on" : "off";
  if (flags["dry-run"]) command.trying(`turn ${onOff} ${what}`, body);
  await command.call(endpoint, { body });
  await command.report(`turned ${onOff} ${what}`, body);
}
