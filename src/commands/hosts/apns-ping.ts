import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsApnsPing extends ClientCommand {
  static override summary = "Ask an Apple device to connect to device management.";
  static override description =
    "The device takes the commands that wait for it. Nothing is queued: use it to check that a device can be reached.";
  static override endpoints = [hostsApi.apnsPing];
  static override args = { host: args.host };
  static override flags = dryRunFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args, flags } = await this.parse(HostsApnsPing);
    const { id, display_name } = await this.host(args.host);
    const name = printable(display_name);
    if (flags["dry-run"]) this.trying(`ask ${name} to connect to device management`, { id, display_name });
    await this.call(hostsApi.apnsPing, { params: { id } });
    await this.report(`${name} was asked to connect to device management`, { id, display_name });
  }
}
