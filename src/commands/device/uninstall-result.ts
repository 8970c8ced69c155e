import * as Flags from "@oclif/core/flags";
import { deviceInstallsApi } from "../../api/edge/device-installs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { resultView } from "../../cli/topics/scripts/scripts.ts";

export default class DeviceUninstallResult extends ClientCommand {
  static override summary = "Show the result of an uninstallation, as the host's user.";
  static override endpoints = [deviceInstallsApi.uninstallResult];
  static override args = deviceArgs;
  static override flags = {
    execution: Flags.string({ summary: "Id of the execution.", helpValue: "ID", required: true }),
    ...deviceFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --execution e0000000-0000-4000-8000-000000000002 --token-stdin < device-token.txt",
  ];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceUninstallResult);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const params = { token, execution_id: flags.execution };
    await this.printOne(await this.call(deviceInstallsApi.uninstallResult, { params }), resultView);
  }
}
