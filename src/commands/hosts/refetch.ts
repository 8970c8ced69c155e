import { hostsApi } from "../../api/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { printable } from "../../cli/text.ts";

export default class HostsRefetch extends ClientCommand {
  static override summary = "Ask a host for all its details at its next check-in.";
  static override endpoints = [hostsApi.refetch];
  static override args = { host: args.host };
  static override flags = { ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args: given, flags } = await this.parse(HostsRefetch);
    const { id, display_name } = await this.host(given.host);
    const name = printable(display_name);
    if (flags["dry-run"]) return this.printPlan(`ask ${name} for all its details`, { id, display_name });
    await this.call(hostsApi.refetch, { params: { id } });
    await this.report(`${name} is asked for all its details at its next check-in`, {
      id,
      display_name,
      refetch_requested: true,
    });
  }
}
