import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { printable } from "../../text/printable.ts";

export default class DeviceBypassConditionalAccess extends ClientCommand {
  static override summary = "Let the next sign-in from a host pass, although it fails policies, as its user.";
  static override endpoints = [deviceApi.bypassConditionalAccess];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceBypassConditionalAccess);
    const token = await deviceTokenOf(this.io, args.token, flags);
    if (flags["dry-run"]) {
      const { host } = await this.call(deviceApi.get, { params: { token } });
      this.trying(`let the next sign-in from ${printable(host.display_name)} pass`, { id: host.id });
    }
    await this.call(deviceApi.bypassConditionalAccess, { params: { token } });
    await this.report("the next sign-in within an hour passes", { allowed: true });
  }
}
