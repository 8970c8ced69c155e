import { packsApi } from "../../../api/checks/packs.ts";
import { ScheduledEntry } from "../../../api/checks/schedule.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args } from "../../../cli/flags.ts";

export default class PacksScheduleGet extends ClientCommand {
  static override summary = "Show a scheduled query of a pack.";
  static override endpoints = [packsApi.getScheduled];
  static override args = { id: args.required("id of the scheduled query") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args } = await this.parse(PacksScheduleGet);
    const { scheduled } = await this.call(packsApi.getScheduled, { params: { id: args.id } });
    await this.printOne(scheduled, { schema: () => ScheduledEntry });
  }
}
