import type { ReactElement } from "react";
import { diskEncryptionApi } from "../../../../api/devices/disk-encryption.ts";
import type { OsSettings } from "../../../../api/settings/os-settings.ts";
import { client } from "../../../api.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { OneTeam, roleTeam } from "../../../parts/one-team.tsx";
import { isPremium, may } from "../../../session.ts";
import { bodyOf } from "../../settings/app-config/fields.ts";
import type { ConfigGroup, SettingChange } from "../../settings/app-config/setting-types.ts";
import { SettingsForm } from "../../settings/app-config/settings-form.tsx";
import { teamMdmEndpoints, useTeamMdm } from "../../settings/os-settings/team-mdm.ts";
import { EncryptionSummary } from "./encryption-summary.tsx";

const MACOS = "macos_settings.enable_disk_encryption";
const WINDOWS = "windows_settings.enable_disk_encryption";
const LINUX = "linux_settings.enable_escrow_disk_encryption_key";
const PIN = "windows_settings.require_bitlocker_pin";

/** Fields by their places in the request. */
const groups: readonly ConfigGroup[] = [
  {
    title: "Setting",
    fields: [
      {
        path: MACOS,
        label: "Macs turn on FileVault, and the server keeps their recovery keys",
        kind: "check",
      },
      {
        path: WINDOWS,
        label: "Windows hosts turn on BitLocker, and the server keeps their recovery keys",
        kind: "check",
      },
      { path: PIN, label: "Users of Windows hosts have to set a PIN for BitLocker", kind: "check" },
      {
        path: LINUX,
        label:
          "Users of encrypted Linux hosts are asked for their passphrase, so that the server gets a key of its own",
        kind: "check",
      },
    ],
  },
];

/** Whether the disks of a team's hosts have to be encrypted, and how far they are. */
export default function DiskEncryptionTab(): ReactElement {
  if (!isPremium()) return <p>Premium: disks of hosts are encrypted, and the server keeps their recovery keys.</p>;
  return (
    <OneTeam what="Disk encryption" action="mdm:read">
      {(teamId) => <DiskEncryption key={teamId} teamId={teamId} />}
    </OneTeam>
  );
}

function DiskEncryption({ teamId }: { readonly teamId: number }): ReactElement {
  const reply = useTeamMdm(teamId);
  return (
    <>
      <EncryptionSummary teamId={teamId} />
      <Read from={reply} what="settings">
        {({ mdm }) => (
          <SettingsForm
            name="Disk encryption"
            groups={groups}
            settings={settingsIn(mdm)}
            mayChange={may("setup:write", roleTeam(teamId))}
            send={(changes, options) =>
              client.call(diskEncryptionApi.change, { body: { team_id: teamId, ...bodyOf(changes) } }, options)
            }
            commandOf={(changes) => commandOf(teamId, changes)}
            effectOf={effectOf}
            endpoints={[...teamMdmEndpoints, diskEncryptionApi.summary]}
          />
        )}
      </Read>
    </>
  );
}

/** The settings as the request names them. */
function settingsIn(mdm: OsSettings): object {
  const { enable_disk_encryption: isOn, disk_encryption: platforms, windows_require_bitlocker_pin } = mdm;
  return {
    macos_settings: { enable_disk_encryption: platforms.macos ?? isOn },
    windows_settings: {
      enable_disk_encryption: platforms.windows ?? isOn,
      require_bitlocker_pin: windows_require_bitlocker_pin,
    },
    linux_settings: { enable_escrow_disk_encryption_key: platforms.linux ?? isOn },
  };
}

const platforms: Readonly<Record<string, string>> = { [MACOS]: "macos", [WINDOWS]: "windows", [LINUX]: "linux" };

const effectOf = (changes: readonly SettingChange[]): string | null =>
  changes.some(({ path, after }) => path !== PIN && after === false)
    ? "Where it is turned off, disks stay encrypted, but hosts are no longer made to encrypt them."
    : null;

function commandOf(teamId: number, changes: readonly SettingChange[]): string {
  const team = teamId === 0 ? "" : ` --team ${teamId}`;
  const pin = changes.find(({ path }) => path === PIN);
  const flagsOf = (isOn: boolean) =>
    changes
      .filter(({ path, after }) => path !== PIN && after === isOn)
      .map(({ path }) => ` --platform ${platforms[path]}`)
      .join("");
  const [on, off] = [flagsOf(true), flagsOf(false)];
  const pinFlag =
    pin === undefined ? "" : pin.after === true ? " --require-bitlocker-pin" : " --no-require-bitlocker-pin";
  return [
    off === "" ? null : `svc mdm disk-encryption disable${team}${off}`,
    on === "" && pinFlag === ""
      ? null
      : `svc mdm disk-encryption enable${team}${on || " --platform windows"}${pinFlag}`,
  ]
    .filter((line) => line !== null)
    .join("\n");
}
