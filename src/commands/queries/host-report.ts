import { queriesApi } from "../../api/checks/queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { columnsOf, noteClipped } from "../../cli/topics/queries/report.ts";

export default class QueriesHostReport extends ClientCommand {
  static override summary = "Show the last results of a scheduled query on one host.";
  static override endpoints = [queriesApi.hostReport];
  static override args = { query: args.query, host: args.host };
  static override flags = { ...teamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 'Local users' mac-1.example.com"];

  async run() {
    const { args, flags } = await this.parse(QueriesHostReport);
    const query = await this.savedQuery(args.query, flags.team);
    const host = await this.host(args.host);
    const reply = await this.call(queriesApi.hostReport, { params: { id: host.id, query_id: query.id } });
    const rows = reply.results.map(({ columns }) => columns);
    const when =
      reply.last_fetched === null
        ? "the host has not reported results yet"
        : `no rows, reported at ${reply.last_fetched}`;
    await this.printList(rows, { columns: columnsOf(rows) }, when);
    noteClipped(reply.report_clipped && rows.length === 0, (text) => this.note(text));
  }
}
