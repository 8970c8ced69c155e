import { Query, queriesApi } from "../../api/checks/queries.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag, teamFlag } from "../../cli/flags.ts";
import { savedQueryFields, savedQueryFlags } from "../../cli/topics/queries/saved-query.ts";

export default class QueriesCreate extends ClientCommand {
  static override summary = "Save a query; with --interval, hosts run it on a schedule.";
  static override endpoints = [queriesApi.create];
  static override flags = { ...savedQueryFlags, ...teamFlag, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name Uptime --query 'SELECT * FROM uptime'",
    "<%= config.bin %> <%= command.id %> --name Listeners --query 'SELECT * FROM listening_ports' --interval 3600 --platform linux --team Workstations",
  ];

  async run() {
    const { flags } = await this.parse(QueriesCreate);
    const input: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...savedQueryFields(flags),
      ...(await this.teamFilter(flags.team)),
    };
    const name = typeof input.name === "string" ? input.name : await this.askText("Name", "--name");
    const query = typeof input.query === "string" ? input.query : await this.askText("SQL", "--query");
    const body = { ...input, name, query };
    if (flags["dry-run"]) {
      this.trying(`save query ${name}`, null, changesOf({}, body));
    }
    const { query: saved } = await this.call(queriesApi.create, { body });
    await this.report(`saved query ${saved.name} (${saved.id})`, saved, { schema: () => Query });
  }
}
