import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { outFlag, saveExport } from "../../cli/export.ts";
import { connectionFlags, generalFlags, labelFlag, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class HostsReport extends ClientCommand {
  // -o is the output file here, and the format is fixed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Export hosts as CSV.";
  static override description =
    "The file is complete, or it is not written: an interrupted report leaves nothing behind. Cells that a spreadsheet would run as " +
    "a formula begin with an apostrophe.";
  static override endpoints = [hostsApi.report];
  static override flags = {
    ...outFlag,
    ...queryFlags(hostsApi.report, ["format"]),
    ...teamFlag,
    ...labelFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --columns hostname,os_version,primary_ip --order-key hostname",
    "<%= config.bin %> <%= command.id %> --where 'platform = darwin' -o -",
  ];

  async run() {
    const { flags } = await this.parse(HostsReport);
    const { out } = flags as { out: string };
    const team = await this.hostFilter(flags);
    const query = queryOf(hostsApi.report, flags, { format: "csv", ...team });
    await this.requireToken();
    const client = await this.client();
    const { body } = await client.open(hostsApi.report, { query }, { signal: this.stop.signal });
    await saveExport(this, body, out);
  }
}
