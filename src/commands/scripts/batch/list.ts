import { scriptBatchesApi } from "../../../api/delivery/script-batches.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags, noneOfTeam } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { batchView } from "../../../cli/topics/scripts/batches.ts";
import { scriptTeamFlag } from "../../../cli/topics/scripts/scripts.ts";

export default class ScriptsBatchList extends ClientCommand {
  static override summary = "List the runs of scripts on many hosts.";
  static override endpoints = [scriptBatchesApi.list];
  static override flags = { ...queryFlags(scriptBatchesApi.list), ...scriptTeamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --team Workstations",
    "<%= config.bin %> <%= command.id %> --status scheduled -o json",
  ];

  async run() {
    const { flags } = await this.parse(ScriptsBatchList);
    const query = queryOf(scriptBatchesApi.list, flags, await this.teamFilter(flags.team));
    await this.printList(
      this.pages(scriptBatchesApi.list, { query }, "batch_executions"),
      batchView,
      noneOfTeam(flags.team),
    );
  }
}
