import { Query, queriesApi } from "../../api/checks/queries.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag, teamFlag } from "../../cli/flags.ts";
import { savedQueryFields, savedQueryFlags } from "../../cli/topics/queries/saved-query.ts";

export default class QueriesUpdate extends ClientCommand {
  static override summary = "Change a saved query. Its report is deleted if the SQL changes.";
  static override endpoints = [queriesApi.modify];
  static override args = { query: args.query };
  static override flags = { ...savedQueryFlags, ...teamFlag, ...inputFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 'Local users' --interval 600 --automations-enabled"];

  async run() {
    const { args, flags } = await this.parse(QueriesUpdate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...savedQueryFields(flags),
    };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const before = await this.savedQuery(args.query, flags.team);
    if (flags["dry-run"]) {
      const now = { ...before, labels_include_any: before.labels_include_any.map(({ name }) => name) };
      this.trying(`change query ${before.name}`, { id: before.id, name: before.name }, changesOf(now, body));
    }
    const { query } = await this.call(queriesApi.modify, { params: { id: before.id }, body });
    await this.report(`changed query ${query.name}`, query, { schema: () => Query });
  }
}
