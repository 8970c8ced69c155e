import type { diskEncryptionApi } from "../../../api/disk-encryption.ts";
import { ClientCommand } from "../../client-command.ts";
import { dryRunFlag, teamFlag } from "../../flags.ts";

export const diskEncryptionFlags = { ...teamFlag, ...dryRunFlag };

/** Turns disk encryption of a team on or off. */
export abstract class DiskEncryptionCommand extends ClientCommand {
  /** Either of the two paths of one endpoint. */
  protected abstract readonly endpoint: typeof diskEncryptionApi.change | typeof diskEncryptionApi.changeByPatch;

  protected async change(
    flags: { team?: string | undefined; "dry-run"?: boolean },
    given: { enable_disk_encryption: boolean; windows_require_bitlocker_pin?: boolean | undefined },
  ): Promise<void> {
    const body = { ...(await this.teamFilter(flags.team)), ...given };
    const what = `disk encryption of ${flags.team === undefined ? "hosts without a team" : `team ${flags.team}`}`;
    const onOff = given.enable_disk_encryption ? "on" : "off";
    if (flags["dry-run"]) this.trying(`turn ${onOff} ${what}`, body);
    await this.call(this.endpoint, { body });
    await this.report(`turned ${onOff} ${what}`, body);
  }
}
