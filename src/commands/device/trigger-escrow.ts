import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { printable } from "../../text/printable.ts";

export default class DeviceTriggerEscrow extends ClientCommand {
  static override summary = "Have a Linux host escrow the key of its disk, as its user.";
  static override endpoints = [deviceApi.triggerEscrow];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceTriggerEscrow);
    const token = await deviceTokenOf(this.io, args.token, flags);
    if (flags["dry-run"]) {
      const { host } = await this.call(deviceApi.get, { params: { token } });
      this.trying(`have ${printable(host.display_name)} escrow the key of its disk`, { id: host.id });
    }
    await this.call(deviceApi.triggerEscrow, { params: { token } });
    await this.report("the agent asks for the passphrase of the disk within a minute", { requested: true });
  }
}
