import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceDesktopAdmin extends ClientCommand {
  static override summary = "Show Munki and device management of a Mac as its user sees them.";
  static override endpoints = [deviceApi.desktopAdmin];
  static override args = deviceArgs;
  static override flags = deviceFlags;
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceDesktopAdmin);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const { desktopadmin } = await this.call(deviceApi.desktopAdmin, { params: { token } });
    if (desktopadmin === null) this.note("not a Mac");
    else await this.printOne(desktopadmin);
  }
}
