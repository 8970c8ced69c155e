import { Task, tasksApi } from "../../api/platform/tasks.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";

export default class TasksCancel extends ClientCommand {
  static override summary = "Cancel a task. What it has done so far stays done.";
  static override endpoints = [tasksApi.cancel];
  static override args = { id: args.required("id of the task") };
  static override flags = { ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1",
    "<%= config.bin %> <%= command.id %> 1 --dry-run",
  ];

  async run() {
    const { args, flags } = await this.parse(TasksCancel);
    const { task } = await this.call(tasksApi.cancel, { params: { id: args.id } });
    if (flags["dry-run"]) this.trying(`cancel task ${task.id}`, task);
    await this.report(`task ${task.id} ends before its next step`, task, { schema: () => Task });
  }
}
