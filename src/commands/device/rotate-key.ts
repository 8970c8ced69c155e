import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { printable } from "../../text/printable.ts";

export default class DeviceRotateKey extends ClientCommand {
  static override summary = "Have a Mac replace the recovery key of its disk, as its user.";
  static override endpoints = [deviceApi.rotateEncryptionKey];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceRotateKey);
    const token = await deviceTokenOf(this.io, args.token, flags);
    if (flags["dry-run"]) {
      const { host } = await this.call(deviceApi.get, { params: { token } });
      this.trying(`have ${printable(host.display_name)} replace its recovery key`, { id: host.id });
    }
    await this.call(deviceApi.rotateEncryptionKey, { params: { token } });
    await this.report("the Mac replaces its recovery key within a minute", { requested: true });
  }
}
