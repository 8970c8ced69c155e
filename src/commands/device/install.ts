import * as Flags from "@oclif/core/flags";
import { deviceInstallsApi } from "../../api/edge/device-installs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { printable } from "../../text/printable.ts";

export default class DeviceInstall extends ClientCommand {
  static override summary = "Install a title with self-service on a host, as its user.";
  static override endpoints = [deviceInstallsApi.install];
  static override args = deviceArgs;
  static override flags = {
    title: Flags.string({ summary: "Id of the software title.", helpValue: "ID", required: true }),
    ...deviceFlags,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --title 1 --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceInstall);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const { title } = flags;
    const what = `install software title ${printable(title)}`;
    if (flags["dry-run"]) this.trying(what, { title });
    await this.call(deviceInstallsApi.install, { params: { token, software_title_id: title } });
    await this.report(`the host will ${what} as soon as it is online`, { title, status: "pending_install" });
  }
}
