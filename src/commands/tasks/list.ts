import { tasksApi } from "../../api/platform/tasks.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { taskView } from "../../cli/task-view.ts";

export default class TasksList extends ClientCommand {
  static override summary =
    "List tasks: work that the server does after it has answered, such as a delete of many hosts.";
  static override description = "Your own tasks, or those of all users for a global admin; the newest first.";
  static override endpoints = [tasksApi.list];
  static override flags = { ...queryFlags(tasksApi.list), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --state running",
    "<%= config.bin %> <%= command.id %> --limit 20 -o json",
  ];

  async run() {
    const { flags } = await this.parse(TasksList);
    const rows = await this.rows(tasksApi.list, { query: queryOf(tasksApi.list, flags) }, "tasks");
    await this.printList(rows, taskView(this.relativeTimes, this.io.now()));
  }
}
