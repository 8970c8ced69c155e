import { TaskHost, tasksApi } from "../../api/platform/tasks.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class TasksHosts extends ClientCommand {
  static override summary = "List the hosts that a task on many hosts has reached, with what came of it.";
  static override description =
    "Hosts that were skipped have the reason. Hosts that the task has not reached yet are not listed. A deleted host keeps its line.";
  static override endpoints = [tasksApi.hosts];
  static override args = { id: args.required("id of the task") };
  static override flags = { ...queryFlags(tasksApi.hosts), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --outcome skipped",
    "<%= config.bin %> <%= command.id %> 1 -o csv",
  ];

  async run() {
    const { args, flags } = await this.parse(TasksHosts);
    const input = { params: { id: args.id }, query: queryOf(tasksApi.hosts, flags) };
    const rows = await this.rows(tasksApi.hosts, input, "hosts");
    await this.printList(rows, {
      schema: () => TaskHost,
      columns: [
        { key: "id" },
        { key: "display_name", header: "host", least: 20 },
        { key: "outcome" },
        { key: "reason" },
      ],
    });
  }
}
