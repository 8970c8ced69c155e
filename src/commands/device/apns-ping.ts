import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { printable } from "../../text/printable.ts";

export default class DeviceApnsPing extends ClientCommand {
  static override summary = "Ask an Apple device to connect to device management, as its user.";
  static override endpoints = [deviceApi.apnsPing];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceApnsPing);
    const token = await deviceTokenOf(this.io, args.token, flags);
    if (flags["dry-run"]) {
      const { host } = await this.call(deviceApi.get, { params: { token } });
      this.trying(`ask ${printable(host.display_name)} to connect to device management`, { id: host.id });
    }
    await this.call(deviceApi.apnsPing, { params: { token } });
    await this.report("the device was asked to connect to device management", { asked: true });
  }
}
