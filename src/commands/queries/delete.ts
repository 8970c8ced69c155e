import * as Flags from "@oclif/core/flags";
import { queriesApi } from "../../api/checks/queries.ts";
import { isPathStep } from "../../api/paths.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class QueriesDelete extends ClientCommand {
  static override summary = "Delete saved queries, with their reports.";
  static override destructive = true;
  static override description =
    "Asks y or N for one query. For several, you must type their number or give --confirm NUMBER.";
  static override endpoints = [queriesApi.delete, queriesApi.deleteByName, queriesApi.deleteMany];
  static override strict = false;
  static override args = { queries: args.queries };
  static override flags = {
    ...teamFlag,
    confirm: Flags.string({ summary: "Number of queries that will be deleted." }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Local users' --yes",
    "<%= config.bin %> <%= command.id %> 1 --yes",
    "<%= config.bin %> <%= command.id %> 'Local users' 'USB devices' --confirm 2",
  ];

  async run() {
    const { argv, flags } = await this.parse(QueriesDelete);
    const names = argv.map(String);
    if (names.length === 0) throw usage("no queries are given", "Name them, or give their ids.");
    const byId = new Map<number, { id: number; name: string; team_id: number | null }>();
    for (const text of names) {
      const { id, name, team_id } = await this.savedQuery(text, flags.team);
      byId.set(id, { id, name, team_id });
    }
    const queries = [...byId.values()];
    const [only] = queries;
    const what = queries.length === 1 && only ? `query ${only.name}` : plural(queries.length, "query", "queries");
    if (flags["dry-run"]) this.trying(`delete ${what}`, queries);
    if (queries.length === 1 && only) {
      await this.confirm(`Delete ${what} and its report?`);
      // Deleted by the given name, so that a query that was renamed meanwhile is not deleted.
      if (names[0] === only.name && !isPathStep(only.name)) {
        const { name, team_id } = only;
        await this.call(queriesApi.deleteByName, { params: { name }, body: { team_id } });
      } else await this.call(queriesApi.delete, { params: { id: only.id } });
    } else {
      for (const { id, name } of queries.slice(0, 10)) this.note(`  ${name} (${id})`);
      if (queries.length > 10) this.note(`  and ${queries.length - 10} more`);
      await this.confirmTyped(`Delete ${what} and their reports?`, String(queries.length));
      await this.call(queriesApi.deleteMany, { body: { ids: queries.map(({ id }) => id) } });
    }
    await this.report(`deleted ${what}`, { deleted: queries.length, queries });
  }
}
