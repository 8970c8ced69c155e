import { type Job, jobsApi } from "../../api/platform/jobs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, notFound } from "../../cli/errors.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { timeoutOf, waitFlags, waitFor } from "../../cli/wait.ts";
import { nearest } from "../../text/nearest.ts";
import { plural } from "../../text/plural.ts";

export default class JobsRun extends ClientCommand {
  static override summary = "Run a job immediately.";
  static override description =
    "The name is that of a job (`svc jobs list`), or cleanups_then_aggregation for all cleanup jobs followed by the jobs that count. Exit code 5 if it is " +
    "running already; with --wait 1 if it fails, and 7 if it is still running at the end of the wait.";
  static override endpoints = [jobsApi.trigger];
  static override args = { name: args.required("name of the job, or of a group of jobs") };
  static override flags = {
    ...waitFlags,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> counts",
    "<%= config.bin %> <%= command.id %> cleanups_then_aggregation --dry-run",
  ];

  async run() {
    const { args, flags } = await this.parse(JobsRun);
    const timeout = timeoutOf(flags);
    const before = await this.#jobsOf(args.name);
    if (flags["dry-run"])
      this.trying(
        `run ${plural(before.length, "job")}`,
        before.map(({ name }) => name),
      );
    await this.call(jobsApi.trigger, { query: { name: args.name } });
    if (!flags.wait) {
      this.note(`${args.name} is running: svc jobs list shows its progress`);
      return;
    }
    const progress = this.progress(`${args.name} is running ...`);
    let after: Job[] = [];
    const done = async () => {
      after = await this.#jobsOf(args.name);
      return !after.some((job) => job.running);
    };
    const going = () => ({ what: `${args.name} is still running`, hint: "svc jobs list shows its progress." });
    await waitFor(this.io, this.stop.signal, { timeout, done, going }).finally(progress.done);
    const failed = after.filter((job) => job.error !== null);
    for (const job of failed) this.note(`${job.name}: ${job.error}`);
    if (failed.length > 0) throw new CliError("failed", `${args.name} failed`, "The cause is in the server's log.");
    await this.report(`${args.name} is done`, after);
  }

  async #jobsOf(name: string): Promise<Job[]> {
    const { jobs } = await this.call(jobsApi.list);
    const those = jobs.filter((job) => job.name === name || job.groups.includes(name));
    if (those.length > 0) return those;
    const near = nearest(name, [...new Set(jobs.flatMap((job) => [job.name, ...job.groups]))]);
    throw notFound(
      `there is no job ${name}`,
      near === undefined ? "svc jobs list shows all jobs." : `Did you mean ${near}?`,
    );
  }
}
