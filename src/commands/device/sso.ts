import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceSso extends ClientCommand {
  static override summary =
    "Start the sign-in on a host's page and print the address of the identity provider, to test it.";
  static override description =
    "The server fetches the identity provider's metadata if necessary, and reports problems with it. The sign-in " +
    "cannot be finished with this command: users sign in with the browser, on the page of their device.";
  static override endpoints = [deviceApi.signIn];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceSso);
    const token = await deviceTokenOf(this.io, args.token, flags);
    if (flags["dry-run"]) this.trying("start a sign-in on the page of a device", {});
    const { url } = await this.call(deviceApi.signIn, { params: { token } });
    await this.printOne({ url });
  }
}
