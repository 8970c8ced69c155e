import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceMigrateMdm extends ClientCommand {
  static override summary = "Request a Mac's change from another device management, as its user.";
  static override description =
    "Sends the webhook of mdm.macos_migration, whose receiver ends the management by the other product.";
  static override endpoints = [deviceApi.migrateMdm];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceMigrateMdm);
    const token = await deviceTokenOf(this.io, args.token, flags);
    if (flags["dry-run"]) this.trying("ask for the change from another device management", {});
    await this.call(deviceApi.migrateMdm, { params: { token } });
    await this.report("the change from another device management was requested", { requested: true });
  }
}
