import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceMapping extends ClientCommand {
  static override summary = "List the email addresses of a host's users, as shown on its own page.";
  static override endpoints = [deviceApi.deviceMapping];
  static override args = deviceArgs;
  static override flags = deviceFlags;
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceMapping);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const { device_mapping } = await this.call(deviceApi.deviceMapping, { params: { token } });
    await this.printList(device_mapping, { columns: [{ key: "email" }, { key: "source" }] });
  }
}
