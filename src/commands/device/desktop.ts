import { deviceApi } from "../../api/edge/device.ts";
import { DeviceCommand, deviceArgs, deviceFlags } from "../../cli/features/device-command.ts";

export default class DeviceDesktop extends DeviceCommand {
  static override summary = "Show the data that the server sends to a host's desktop app.";
  static override endpoints = [deviceApi.desktop];
  static override args = deviceArgs;
  static override flags = deviceFlags;
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  async run() {
    const { args, flags } = await this.parse(DeviceDesktop);
    const token = await this.deviceToken(args.token, flags);
    const desktop = await this.call(deviceApi.desktop, { params: { token } });
    await this.printOne(desktop, { schema: () => deviceApi.desktop.response });
  }
}
