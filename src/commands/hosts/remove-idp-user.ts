import { hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsRemoveIdpUser extends ClientCommand {
  static override summary = "Remove the user of the identity provider from a host.";
  static override destructive = true;
  static override endpoints = [hostDetailsApi.deleteIdpMapping];
  static override args = { host: args.host };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com --yes"];

  async run() {
    const { args, flags } = await this.parse(HostsRemoveIdpUser);
    const { id, display_name } = await this.host(args.host);
    const what = `the user of the identity provider from ${printable(display_name)}`;
    if (flags["dry-run"]) this.trying(`remove ${what}`, { id, display_name });
    await this.confirm(`Remove ${what}?`);
    await this.call(hostDetailsApi.deleteIdpMapping, { params: { id } });
    await this.report(`removed ${what}`, { id, display_name });
  }
}
