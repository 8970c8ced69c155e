import { AgentTable, agentTablesApi } from "../../api/checks/agent-tables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

const namesOf = (columns: unknown): string =>
  Array.isArray(columns) ? columns.map(({ name }: { name: string }) => name).join(", ") : "";

export default class QueriesTables extends ClientCommand {
  static override summary = "List the tables that queries can read on hosts, with their columns.";
  static override endpoints = [agentTablesApi.list];
  static override flags = queryFlags(agentTablesApi.list);
  static override examples = [
    "<%= config.bin %> <%= command.id %> --platform darwin",
    "<%= config.bin %> <%= command.id %> --query bundle_identifier --fields name,platforms",
  ];

  async run() {
    const { flags } = await this.parse(QueriesTables);
    const { tables } = await this.call(agentTablesApi.list, { query: queryOf(agentTablesApi.list, flags) });
    await this.printList(tables, {
      schema: () => AgentTable,
      columns: [{ key: "name" }, { key: "platforms" }, { key: "columns", text: namesOf }],
    });
  }
}
