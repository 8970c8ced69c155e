import { commandsApi } from "../../../api/devices/commands.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { commandView } from "../../../cli/topics/mdm/command.ts";

export default class MdmCommandsList extends ClientCommand {
  static override summary = "List commands of device management and their status, the last changed first.";
  static override endpoints = [commandsApi.list];
  static override flags = { ...queryFlags(commandsApi.list), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --host-identifier mac-1.example.com",
    "<%= config.bin %> <%= command.id %> --host-identifier mac-1.example.com --command-status pending -o json",
  ];

  async run() {
    const { flags } = await this.parse(MdmCommandsList);
    const latest = { order_key: "updated_at", order_direction: "desc" };
    const query = queryOf(commandsApi.list, flags, flags["order-key"] === undefined ? latest : {});
    const commands = this.pages(commandsApi.list, { query }, "results");
    await this.printList(commands, commandView(this.relativeTimes, this.io.now()), "no commands");
  }
}
