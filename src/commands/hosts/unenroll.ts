import { hostDetailsApi } from "../../api/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsUnenroll extends ClientCommand {
  static override summary = "Turn off device management for a host.";
  static override destructive = true;
  static override endpoints = [hostDetailsApi.unenrollByPatch];
  static override args = { host: args.host };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com --yes"];

  async run() {
    const { args: given, flags } = await this.parse(HostsUnenroll);
    const { id, display_name } = await this.host(given.host);
    const name = printable(display_name);
    if (flags["dry-run"]) this.trying(`turn off device management for ${name}`, { id, display_name });
    await this.confirm(`Turn off device management for ${name}?`);
    await this.call(hostDetailsApi.unenrollByPatch, { params: { id } });
    await this.report(`${name}: device management is off`, { id, display_name, enrollment_status: "Off" });
  }
}
