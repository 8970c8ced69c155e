import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { targetsApi } from "../../api/inventory/targets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { LiveQueries } from "../../cli/topics/queries/live.ts";

export default class TargetsSearch extends ClientCommand {
  static override summary = "Find hosts, labels and teams to run a query on.";
  static override endpoints = [targetsApi.search];
  static override args = { text: Args.string({ description: "part of a hostname, an address or a name" }) };
  static override flags = {
    query: Flags.string({ summary: "Targets for this saved query, by name or id.", helpValue: "NAME" }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> mac"];

  readonly #live = new LiveQueries(this);

  async run() {
    const { args, flags } = await this.parse(TargetsSearch);
    const query_id = flags.query === undefined ? null : (await this.savedQuery(flags.query)).id;
    if (flags["dry-run"]) this.trying("search targets, which changes nothing", args.text ?? "");
    const { targets } = await this.call(targetsApi.search, { body: { query: args.text ?? "", query_id } });
    const rows = [
      ...targets.hosts.map(({ id, hostname, status }) => ({ kind: "host", id, name: hostname, hosts: 1, status })),
      ...targets.labels.map(({ id, name, count }) => ({ kind: "label", id, name, hosts: count, status: "" })),
      ...targets.teams.map(({ id, name, count }) => ({ kind: "team", id, name, hosts: count, status: "" })),
    ];
    await this.printList(rows, { columns: ["kind", "id", "name", "hosts", "status"] });
  }
}
