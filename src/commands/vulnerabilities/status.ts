import { jobsApi } from "../../api/platform/jobs.ts";
import { vulnerabilitiesApi } from "../../api/software/vulnerabilities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { IMPORT_JOB, NOTHING_IMPORTED, progressOf } from "../../cli/topics/vulnerabilities/import.ts";

export default class VulnerabilitiesStatus extends ClientCommand {
  static override summary = "Show how far the import of vulnerability data and the comparison with software are.";
  static override description = "JSON and YAML also list each feed: its state, its error, and when it was imported.";
  static override endpoints = [vulnerabilitiesApi.status, jobsApi.list];
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> -o json --jq '.feeds[] | select(.error != null) | {name, error}'",
  ];

  async run() {
    await this.parse(VulnerabilitiesStatus);
    const status = await this.call(vulnerabilitiesApi.status);
    const { jobs } = await this.call(jobsApi.list);
    const { running = false, finished_at = null, error = null } = jobs.find(({ name }) => name === IMPORT_JOB) ?? {};
    if (!status.is_configured) this.note(NOTHING_IMPORTED);
    const counted = (state: string) => status.feeds.filter((feed) => feed.state === state).length;
    await this.printOne(
      { ...status, running, last_run_at: finished_at, error },
      {
        columns: [
          { key: "running", text: () => (running ? progressOf(status) : "no") },
          { key: "last_run_at", header: "last run" },
          { key: "error" },
          {
            key: "feeds",
            text: () => `${counted("current")} current, ${counted("failed")} failed, ${counted("missing")} missing`,
          },
          {
            key: "matching",
            header: "compared",
            text: () =>
              status.matching === null ? "" : `${status.matching.done} of ${status.matching.total} versions`,
          },
          { key: "vulnerabilities_count", header: "vulnerabilities" },
          { key: "counts_updated_at", header: "hosts counted at" },
        ],
      },
    );
  }
}
