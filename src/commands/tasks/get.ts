import { Task, tasksApi } from "../../api/platform/tasks.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError } from "../../cli/errors.ts";
import { args } from "../../cli/flags.ts";
import { timeoutOf, waitFlags, waitFor } from "../../cli/wait.ts";

export default class TasksGet extends ClientCommand {
  static override summary = "Show a task and its progress.";
  static override description =
    "With --wait the command ends when the task has ended: with exit code 1 if it failed or was cancelled, and 7 if it is still running at the " +
    "end of the wait.";
  static override endpoints = [tasksApi.get];
  static override args = { id: args.required("id of the task") };
  static override flags = { ...waitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> 1", "<%= config.bin %> <%= command.id %> 1 --wait"];

  async run() {
    const { args, flags } = await this.parse(TasksGet);
    const timeout = timeoutOf(flags);
    const get = async () => (await this.call(tasksApi.get, { params: { id: args.id } })).task;
    let task = await get();
    if (flags.wait) {
      const progress = this.progress(`waiting for task ${task.id} ...`);
      const done = async () => {
        task = await get();
        return task.finished_at !== null;
      };
      const going = () => ({
        what: `task ${task.id} is still running (${task.progress} of ${task.total})`,
        hint: `svc tasks cancel ${task.id} ends it.`,
      });
      await waitFor(this.io, this.stop.signal, { timeout, done, going }).finally(progress.done);
    }
    await this.printOne(task, { schema: () => Task });
    if (flags.wait && task.state !== "done")
      throw new CliError(
        "failed",
        `task ${task.id} ${task.state === "failed" ? "failed" : "was cancelled"}`,
        task.error,
      );
  }
}
