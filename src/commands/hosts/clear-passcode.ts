import { type Command, commandsApi } from "../../api/devices/commands.ts";
import { hostActionsApi } from "../../api/hosts/host-actions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed } from "../../cli/errors.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { timeoutOf, waitFlags, waitFor } from "../../cli/wait.ts";
import { printable } from "../../text/printable.ts";

export default class HostsClearPasscode extends ClientCommand {
  static override summary = "Remove the passcode of an iPhone or iPad as soon as it is online.";
  static override description =
    "Its user can then open it without a passcode, and is asked to set a new one. With --wait, the exit code is 0 if the " +
    "passcode is cleared, 1 if the device has refused it, and 7 if it has not answered.";
  static override destructive = true;
  static override endpoints = [hostActionsApi.clearPasscode];
  static override args = { host: args.host };
  static override flags = { ...yesFlag, ...waitFlags, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> iphone-1.example.com --yes",
    "<%= config.bin %> <%= command.id %> iphone-1.example.com --yes --wait --timeout 30m --dry-run",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsClearPasscode);
    const timeout = timeoutOf(flags);
    const { id, display_name } = await this.host(args.host);
    const name = printable(display_name);
    if (flags["dry-run"]) this.trying(`clear the passcode of ${name}`, { id, display_name });
    await this.confirm(`Clear the passcode of ${name}?`);
    const reply = await this.call(hostActionsApi.clearPasscode, { params: { id } });
    if (flags.wait) await this.#follow(reply.command_uuid, name, timeout);
    const when = flags.wait ? "was cleared" : "is cleared when the device is online";
    await this.report(`${name}: the passcode ${when}`, reply);
  }

  async #follow(command_uuid: string, name: string, timeout: string): Promise<void> {
    const progress = this.progress(`waiting for ${name} ...`);
    let command: Command | undefined;
    const done = async () => {
      [command] = (await this.call(commandsApi.list, { query: { command_uuid } })).results;
      return command?.command_status !== "pending";
    };
    const going = () => ({
      what: `${name} had not answered`,
      hint: "It gets the command when it is online. `svc hosts upcoming HOST` shows it, `svc hosts cancel` cancels it.",
    });
    await waitFor(this.io, this.stop.signal, { timeout, done, going }).finally(progress.done);
    if (command === undefined) throw failed(`${name}: the command was cancelled`);
    if (command.command_status !== "ran") throw failed(`${name}: the device answered ${printable(command.status)}`);
  }
}
