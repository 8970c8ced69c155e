import * as Flags from "@oclif/core/flags";
import { queriesApi } from "../../api/checks/queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { columnsOf, noteClipped } from "../../cli/topics/queries/report.ts";

export default class QueriesReport extends ClientCommand {
  static override summary = "Show the last results of a scheduled query.";
  static override description =
    "Each row comes from a host and has the columns host_id, host_name and last_fetched before its own. --csv downloads the CSV file " +
    "that the server generates, which may be larger than the memory of this machine.";
  static override endpoints = [queriesApi.report, queriesApi.reportCsv];
  static override args = { query: args.query };
  static override flags = {
    ...teamFlag,
    "hosts-of-team": Flags.string({
      summary: "Only hosts of this team; none: hosts without a team.",
      helpValue: "TEAM",
    }),
    csv: Flags.boolean({ summary: "Download CSV that the server generates." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Local users'",
    "<%= config.bin %> <%= command.id %> 'Local users' --hosts-of-team Workstations --csv",
  ];

  async run() {
    const { args, flags } = await this.parse(QueriesReport);
    const { id } = await this.savedQuery(args.query, flags.team);
    const input = { params: { id }, query: await this.teamFilter(flags["hosts-of-team"]) };
    if (flags.csv) {
      const { body } = await (await this.client()).open(queriesApi.reportCsv, input);
      for await (const bytes of body) await this.io.outTextBytes(bytes);
      return;
    }
    const reply = await this.call(queriesApi.report, input);
    const rows = reply.results.map(({ columns, ...of }) => ({ ...columns, ...of }));
    const fixedColumns = ["host_id", "host_name", "last_fetched"];
    const columns = [...fixedColumns, ...columnsOf(rows).filter((name) => !fixedColumns.includes(name))];
    await this.printList(rows, { columns }, "no host has reported results yet");
    noteClipped(reply.report_clipped, (text) => this.note(text));
  }
}
