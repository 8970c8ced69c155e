import { hostActionsApi } from "../../api/host-actions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsClearPasscode extends ClientCommand {
  static override summary = "Remove the passcode of an iPhone or iPad as soon as it is online.";
  static override description = "Its user can then open it without a passcode, and is asked to set a new one.";
  static override destructive = true;
  static override endpoints = [hostActionsApi.clearPasscode];
  static override args = { host: args.host };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> iphone-1.example.com --yes"];

  async run() {
    const { args: given, flags } = await this.parse(HostsClearPasscode);
    const { id, display_name } = await this.host(given.host);
    const name = printable(display_name);
    if (flags["dry-run"]) this.trying(`clear the passcode of ${name}`, { id, display_name });
    await this.confirm(`Clear the passcode of ${name}?`);
    const reply = await this.call(hostActionsApi.clearPasscode, { params: { id } });
    await this.report(`${name}: the passcode is cleared when the device is online`, reply);
  }
}
