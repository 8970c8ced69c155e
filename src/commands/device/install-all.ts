import { deviceInstallsApi } from "../../api/edge/device-installs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceInstallAll extends ClientCommand {
  static override summary = "Install all titles with self-service that a host does not have, as its user.";
  static override endpoints = [deviceInstallsApi.installAll];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...queryFlags(deviceInstallsApi.installAll), ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --query tool --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceInstallAll);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const query = queryOf(deviceInstallsApi.installAll, flags);
    if (flags["dry-run"]) this.trying("install all software that is offered to the host's user", query);
    await this.call(deviceInstallsApi.installAll, { params: { token }, query });
    await this.report("the host will install the software as soon as it is online", { requested: true });
  }
}
