import * as Flags from "@oclif/core/flags";
import { queriesApi } from "../../api/queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { columnsOf, tellClipped } from "../../cli/report-view.ts";

export default class QueriesReport extends ClientCommand {
  static override summary = "Show what hosts last answered to a scheduled query.";
  static override description =
    "Each row is one that a host gave, with host_id, host_name and last_fetched before its columns. --csv takes the file " +
    "that the server makes, which may be larger than fits into memory here.";
  static override endpoints = [queriesApi.report, queriesApi.reportCsv];
  static override args = { query: args.query };
  static override flags = {
    ...teamFlag,
    "hosts-of-team": Flags.string({ summary: "Only hosts of this team, or of none.", helpValue: "TEAM" }),
    csv: Flags.boolean({ summary: "As CSV made by the server." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Local users'",
    "<%= config.bin %> <%= command.id %> 'Local users' --hosts-of-team Workstations --csv",
  ];

  async run() {
    const { args: given, flags } = await this.parse(QueriesReport);
    const { id } = await this.savedQuery(given.query, flags.team);
    const input = { params: { id }, query: await this.teamFilter(flags["hosts-of-team"]) };
    if (flags.csv) {
      const { body } = await (await this.client()).open(queriesApi.reportCsv, input);
      const decoder = new TextDecoder();
      for await (const part of body) this.io.out(decoder.decode(part, { stream: true }));
      return;
    }
    const reply = await this.call(queriesApi.report, input);
    const rows = reply.results.map(({ columns, ...of }) => ({ ...columns, ...of }));
    const own = ["host_id", "host_name", "last_fetched"];
    const columns = [...own, ...columnsOf(rows).filter((name) => !own.includes(name))];
    await this.printList(rows, { columns }, "no host has answered yet");
    tellClipped(reply.report_clipped, (text) => this.note(text));
  }
}
