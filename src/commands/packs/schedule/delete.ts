import { packsApi } from "../../../api/checks/packs.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../../cli/flags.ts";

export default class PacksScheduleDelete extends ClientCommand {
  static override summary = "Remove a scheduled query from its pack.";
  static override destructive = true;
  static override endpoints = [packsApi.deleteScheduled];
  static override args = { id: args.required("id of the scheduled query") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --yes"];

  async run() {
    const { args, flags } = await this.parse(PacksScheduleDelete);
    const params = { id: args.id };
    const { id, name, pack_id } = (await this.call(packsApi.getScheduled, { params })).scheduled;
    if (flags["dry-run"]) this.trying(`remove ${name} from its pack`, { id, name, pack_id });
    await this.confirm(`Remove ${name} from its pack?`);
    await this.call(packsApi.deleteScheduled, { params });
    await this.report(`removed ${name} from its pack`, { id, name, deleted: true });
  }
}
