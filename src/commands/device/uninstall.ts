import * as Flags from "@oclif/core/flags";
import { deviceInstallsApi } from "../../api/edge/device-installs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { printable } from "../../text/printable.ts";

export default class DeviceUninstall extends ClientCommand {
  static override summary = "Uninstall a title with self-service from a host, as its user.";
  static override endpoints = [deviceInstallsApi.uninstall];
  static override args = deviceArgs;
  static override flags = {
    title: Flags.string({ summary: "Id of the software title.", helpValue: "ID", required: true }),
    ...deviceFlags,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --title 1 --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceUninstall);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const { title } = flags;
    const what = `uninstall software title ${printable(title)}`;
    if (flags["dry-run"]) this.trying(what, { title });
    await this.call(deviceInstallsApi.uninstall, { params: { token, software_title_id: title } });
    await this.report(`the host will ${what} as soon as it is online`, { title, status: "pending_uninstall" });
  }
}
