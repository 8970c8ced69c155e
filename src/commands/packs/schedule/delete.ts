import { packsApi } from "../../../api/packs.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../../cli/flags.ts";

export default class PacksScheduleDelete extends ClientCommand {
  static override summary = "Take a scheduled query out of its pack.";
  static override destructive = true;
  static override endpoints = [packsApi.deleteScheduled];
  static override args = { id: args.required("id of the scheduled query") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --yes"];

  async run() {
    const { args: given, flags } = await this.parse(PacksScheduleDelete);
    const params = { id: given.id };
    const { id, name, pack_id } = (await this.call(packsApi.getScheduled, { params })).scheduled;
    if (flags["dry-run"]) return this.printPlan(`take ${name} out of its pack`, { id, name, pack_id });
    await this.confirm(`Take ${name} out of its pack?`);
    await this.call(packsApi.deleteScheduled, { params });
    await this.report(`took ${name} out of its pack`, { id, name, deleted: true });
  }
}
