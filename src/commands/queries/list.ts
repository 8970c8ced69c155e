import * as Flags from "@oclif/core/flags";
import { QuerySpec, queriesApi } from "../../api/checks/queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { isNoTeam, limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { savedQueryView } from "../../cli/topics/queries/saved-query.ts";

export default class QueriesList extends ClientCommand {
  static override summary = "List saved queries: the global ones, or a team's.";
  static override endpoints = [queriesApi.list, queriesApi.specs];
  static override flags = {
    ...queryFlags(queriesApi.list),
    ...teamFlag,
    spec: Flags.boolean({ summary: "Print them in the format of `svc queries apply`." }),
    ...limitFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --platform linux --order-key name",
    "<%= config.bin %> <%= command.id %> --team Workstations --merge-inherited",
    "<%= config.bin %> <%= command.id %> --spec -o yaml",
  ];

  async run() {
    const { flags } = await this.parse(QueriesList);
    const named = flags.team === undefined || isNoTeam(flags.team) ? null : await this.team(flags.team);
    const team = named ? { team_id: named.id } : await this.teamFilter(flags.team);
    if (flags.spec) {
      const { specs } = await this.call(queriesApi.specs, { query: team });
      return this.printList(specs, {
        schema: () => QuerySpec,
        columns: ["name", "team", "interval", "platform", "query"],
      });
    }
    const query = queryOf(queriesApi.list, flags, team);
    await this.printList(this.pages(queriesApi.list, { query }, "queries"), savedQueryView(named?.name));
  }
}
