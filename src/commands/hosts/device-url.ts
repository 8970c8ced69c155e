import { hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsDeviceUrl extends ClientCommand {
  static override summary =
    "Print a link to the page that a host's user sees, valid for an hour. The access is recorded.";
  static override endpoints = [hostDetailsApi.deviceUrl];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args, flags } = await this.parse(HostsDeviceUrl);
    const { id } = await this.host(args.host);
    const reply = await this.call(hostDetailsApi.deviceUrl, { params: { id } });
    if (this.structured || flags.fields !== undefined)
      return this.printOne(reply, { schema: () => hostDetailsApi.deviceUrl.response });
    this.log(printable(reply.device_url));
  }
}
