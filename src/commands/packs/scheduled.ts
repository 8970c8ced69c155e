import { packsApi } from "../../api/checks/packs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { entryView } from "../../cli/topics/queries/saved-query.ts";

export default class PacksScheduled extends ClientCommand {
  static override summary = "List the queries that a pack schedules.";
  static override endpoints = [packsApi.scheduled];
  static override args = { pack: args.pack };
  static override examples = ["<%= config.bin %> <%= command.id %> Compliance"];

  async run() {
    const { args } = await this.parse(PacksScheduled);
    const { id } = await this.pack(args.pack);
    const { scheduled } = await this.call(packsApi.scheduled, { params: { id } });
    await this.printList(scheduled, entryView);
  }
}
