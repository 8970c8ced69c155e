import { jobsApi } from "../../api/platform/jobs.ts";
import { type VulnerabilityStatus, vulnerabilitiesApi } from "../../api/software/vulnerabilities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError } from "../../cli/errors.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { IMPORT_JOB, NOTHING_IMPORTED, progressOf } from "../../cli/topics/vulnerabilities/import.ts";
import { timeoutOf, waitFlags, waitFor } from "../../cli/wait.ts";

export default class VulnerabilitiesSync extends ClientCommand {
  static override summary = "Import vulnerability data immediately, and compare it with software.";
  static override description =
    "The server also does so every hour. Only feeds that have changed are read. With --wait, exit code 1 if a feed " +
    "could not be imported, and 7 if the import is still running at the end of the wait.";
  static override endpoints = [jobsApi.trigger, vulnerabilitiesApi.status];
  static override flags = { ...waitFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %>", "<%= config.bin %> <%= command.id %> --dry-run"];

  async run() {
    const { flags } = await this.parse(VulnerabilitiesSync);
    const timeout = timeoutOf(flags);
    const { is_configured } = await this.call(vulnerabilitiesApi.status);
    if (flags["dry-run"]) this.trying("run 1 job", [IMPORT_JOB]);
    await this.call(jobsApi.trigger, { query: { name: IMPORT_JOB } });
    const what = is_configured ? "the import" : `${NOTHING_IMPORTED}; the comparison with software`;
    if (!flags.wait) {
      this.note(`${what} is running: svc vulnerabilities status shows its progress`);
      return;
    }
    const progress = this.progress(`${is_configured ? "the import" : "the comparison"} is starting ...`);
    let status: VulnerabilityStatus | null = null;
    let error: string | null = null;
    const done = async () => {
      const { jobs } = await this.call(jobsApi.list);
      const job = jobs.find(({ name }) => name === IMPORT_JOB);
      status = await this.call(vulnerabilitiesApi.status);
      progress.update(progressOf(status));
      error = job?.error ?? null;
      return job?.running !== true;
    };
    const going = () => ({
      what: `${what} is still running`,
      hint: "svc vulnerabilities status shows its progress.",
    });
    await waitFor(this.io, this.stop.signal, { timeout, done, going }).finally(progress.done);
    if (error !== null) throw new CliError("failed", error, "What could be imported is used.");
    await this.report(`${what} is done`, status);
  }
}
