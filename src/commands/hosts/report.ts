import { hostsApi } from "../../api/hosts.ts";
import { ExportCommand, outFlag } from "../../cli/export-command.ts";
import { teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class HostsReport extends ExportCommand {
  static override summary = "Export hosts as CSV.";
  static override description =
    "The file comes whole or not at all: a report that breaks off leaves nothing behind. In cells that a spreadsheet would take for formulas " +
    "an apostrophe comes first.";
  static override endpoints = [hostsApi.report];
  static override flags = {
    ...outFlag,
    ...queryFlags(hostsApi.report, ["format"]),
    ...teamFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --columns hostname,os_version,primary_ip --order-key hostname",
    "<%= config.bin %> <%= command.id %> --where 'platform = darwin' -o -",
  ];

  async run() {
    const { flags } = await this.parse(HostsReport);
    const { out } = flags as { out: string };
    const team = await this.teamFilter(flags.team as string | undefined);
    const query = queryOf(hostsApi.report, flags, { format: "csv", ...team });
    await this.requireToken();
    const client = await this.client();
    const { body } = await client.open(hostsApi.report, { query }, { signal: this.stop.signal });
    await this.save(body, out);
  }
}
