import { operationsApi } from "../../api/hosts/operations.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryOf } from "../../cli/query-flags.ts";
import { operationFlags, operationView } from "../../cli/topics/operations.ts";

export default class OperationsList extends ClientCommand {
  static override summary =
    "List what is asked of hosts and what became of it: locks, scripts, installations, commands.";
  static override description = "The newest first. `svc operations cancel` cancels those that hosts have not begun.";
  static override endpoints = [operationsApi.list];
  static override flags = { ...operationFlags, ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --state queued,sent",
    "<%= config.bin %> <%= command.id %> --kind run_script,software_install --state failed --since 2026-01-31T00:00:00Z -o json",
  ];

  async run() {
    const { flags } = await this.parse(OperationsList);
    const query = queryOf(operationsApi.list, flags, await this.teamFilter(flags.team));
    const operations = this.pages(
      operationsApi.list,
      { query: { order_key: "id", order_direction: "desc", ...query } },
      "operations",
    );
    await this.printList(operations, operationView(this.relativeTimes, this.io.now()));
  }
}
