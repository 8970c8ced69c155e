import { deviceEnrollApi } from "../../api/devices/apple-enroll.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceEnrollUrl extends ClientCommand {
  static override summary = "Show where a host's user enrolls it in device management.";
  static override endpoints = [deviceEnrollApi.manualProfile];
  static override args = deviceArgs;
  static override flags = deviceFlags;
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceEnrollUrl);
    const token = await deviceTokenOf(this.io, args.token, flags);
    await this.printOne(await this.call(deviceEnrollApi.manualProfile, { params: { token } }));
  }
}
