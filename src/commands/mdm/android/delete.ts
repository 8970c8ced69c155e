import { androidApi } from "../../../api/devices/android.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";

export default class MdmAndroidDelete extends ClientCommand {
  static override summary = "Turn device management of Android off.";
  static override description =
    "The organization is deleted at the vendor. Work profiles are removed from personal devices, and devices of the " +
    "organization are reset: they lose their data.";
  static override destructive = true;
  static override endpoints = [androidApi.delete];
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --yes"];

  async run() {
    const { flags } = await this.parse(MdmAndroidDelete);
    if (flags["dry-run"]) this.trying("turn device management of Android off", {});
    await this.confirm("Turn device management of Android off, which resets the organization's devices?");
    await this.call(androidApi.delete);
    await this.report("turned device management of Android off", { deleted: true });
  }
}
