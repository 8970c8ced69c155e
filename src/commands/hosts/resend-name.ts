import { hostNamesApi } from "../../api/devices/host-names.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsResendName extends ClientCommand {
  static override summary = "Send a host the name that its team's template gives it again.";
  static override description =
    "The name must be verified or have failed. `svc hosts get HOST` shows its state, and `svc mdm name-template` sets the template.";
  static override endpoints = [hostNamesApi.resend];
  static override args = { host: args.host };
  static override flags = dryRunFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args, flags } = await this.parse(HostsResendName);
    const { id, display_name } = await this.host(args.host);
    const name = printable(display_name);
    if (flags["dry-run"]) this.trying(`send ${name} its name again`, { id, display_name });
    await this.call(hostNamesApi.resend, { params: { id } });
    await this.report(`${name} gets its name again when it is online`, { id, display_name });
  }
}
