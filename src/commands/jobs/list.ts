import { Job, jobsApi } from "../../api/platform/jobs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { timeColumn } from "../../cli/output/time-column.ts";

export default class JobsList extends ClientCommand {
  static override summary = "List the server's jobs, and the result of each job's last run.";
  static override endpoints = [jobsApi.list];
  static override examples = ["<%= config.bin %> <%= command.id %>", "<%= config.bin %> <%= command.id %> -o json"];

  async run() {
    await this.parse(JobsList);
    const { jobs } = await this.call(jobsApi.list);
    const now = this.io.now();
    await this.printList(jobs, {
      schema: () => Job,
      columns: [
        { key: "name" },
        { key: "every_seconds", header: "every (s)" },
        timeColumn("started_at", "last started", this.relativeTimes, now),
        timeColumn("finished_at", "ended", this.relativeTimes, now),
        { key: "running" },
        { key: "error" },
      ],
    });
  }
}
