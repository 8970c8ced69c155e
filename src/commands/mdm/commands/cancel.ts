import { commandsApi } from "../../../api/devices/commands.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmCommandsCancel extends ClientCommand {
  static override summary = "Cancel a lock, wipe, passcode removal or lost mode that the host has not received yet.";
  static override destructive = true;
  static override endpoints = [commandsApi.cancel];
  static override args = { host: args.host, command: args.required("uuid of the command") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com 9f1c2d3e-4f50-4162-8374-95a6b7c8d9e0 --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmCommandsCancel);
    const { id, display_name } = await this.host(args.host);
    const what = `command ${printable(args.command)} on ${printable(display_name)}`;
    if (flags["dry-run"]) this.trying(`cancel ${what}`, { host_id: id, command_uuid: args.command });
    await this.confirm(`Cancel ${what}?`);
    await this.call(commandsApi.cancel, { params: { id, command_uuid: args.command } });
    await this.report(`cancelled ${what}`, { host_id: id, command_uuid: args.command, cancelled: true });
  }
}
