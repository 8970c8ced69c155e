import * as Flags from "@oclif/core/flags";
import { QuerySpec, queriesApi } from "../../api/checks/queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { errorColumns } from "../../cli/output/query-errors.ts";
import { savedQueryView } from "../../cli/topics/queries/saved-query.ts";

export default class QueriesGet extends ClientCommand {
  static override summary = "Show a saved query.";
  static override endpoints = [queriesApi.get, queriesApi.spec];
  static override args = { query: args.query };
  static override flags = {
    ...teamFlag,
    spec: Flags.boolean({ summary: "Print it in the format of `svc queries apply`." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Local users'",
    "<%= config.bin %> <%= command.id %> 'Local users' --spec -o yaml",
  ];

  async run() {
    const { args, flags } = await this.parse(QueriesGet);
    const { id, name, team_id } = await this.savedQuery(args.query, flags.team);
    if (flags.spec) {
      const query = team_id === null ? {} : { team_id };
      const { specs } = await this.call(queriesApi.spec, { params: { name }, query });
      return this.printOne(specs, { schema: () => QuerySpec });
    }
    const { query } = await this.call(queriesApi.get, { params: { id } });
    const team = team_id === null || flags.team === undefined ? null : (await this.team(flags.team)).name;
    const view = savedQueryView(team);
    await this.printOne(query, {
      ...view,
      columns: [
        ...view.columns,
        ...errorColumns([query]),
        { key: "description" },
        { key: "query" },
        { key: "min_qengine_version", header: "minimum version" },
        { key: "observer_can_run" },
        { key: "discard_data" },
        { key: "labels_include_any.name", header: "labels" },
        { key: "packs.name", header: "packs" },
        { key: "stats" },
        { key: "updated_at" },
      ],
    });
  }
}
