import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceDesktop extends ClientCommand {
  static override summary = "Show the data that the server sends to a host's desktop app.";
  static override endpoints = [deviceApi.desktop];
  static override args = deviceArgs;
  static override flags = deviceFlags;
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceDesktop);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const desktop = await this.call(deviceApi.desktop, { params: { token } });
    await this.printOne(desktop, { schema: () => deviceApi.desktop.response });
  }
}
