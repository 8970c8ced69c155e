import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { printable } from "../../text/printable.ts";

export default class DeviceRefetch extends ClientCommand {
  static override summary = "Request all details from a host, as its user.";
  static override endpoints = [deviceApi.refetch];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceRefetch);
    const token = await deviceTokenOf(this.io, args.token, flags);
    if (flags["dry-run"]) {
      const { host } = await this.call(deviceApi.get, { params: { token } });
      this.trying(`request all details from ${printable(host.display_name)}`, { id: host.id });
    }
    await this.call(deviceApi.refetch, { params: { token } });
    await this.report("the host will report all its details at its next check-in", { refetch_requested: true });
  }
}
