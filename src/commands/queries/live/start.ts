import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { dryRunFlag, listOf } from "../../../cli/flags.ts";
import { LiveQueries, needTargets, targetFlags } from "../../../cli/topics/queries/live.ts";
import { plural } from "../../../text/plural.ts";

export default class QueriesLiveStart extends ClientCommand {
  static override summary = "Start a live query for a program that reads it over the websocket.";
  static override description =
    "The query is cancelled if no client reads it within a minute. Hosts that come online receive it until the client " +
    "closes the websocket. To print results here, use `svc query`.";
  static override endpoints = [liveQueriesApi.start, liveQueriesApi.startByNames];
  static override args = { sql: Args.string({ description: "SQL" }) };
  static override flags = {
    query: Flags.string({ summary: "A saved query instead of SQL, by name or id.", helpValue: "NAME" }),
    ...targetFlags,
    "by-names": Flags.boolean({
      summary: "Have the server find hosts and labels by name; unknown hosts are ignored.",
      exclusive: ["teams"],
    }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'SELECT 1' --hosts mac-1.example.com -o json",
    "<%= config.bin %> <%= command.id %> 'SELECT 1' --by-names --hosts mac-1.example.com,linux-1.example.com",
  ];

  readonly #live = new LiveQueries(this);

  async run() {
    const { args, flags } = await this.parse(QueriesLiveStart);
    if ((args.sql === undefined) === (flags.query === undefined)) throw usage("give either SQL or --query");
    const what =
      flags.query === undefined ? { query: args.sql! } : { query_id: (await this.savedQuery(flags.query)).id };
    const named = { hosts: listOf(flags.hosts), labels: listOf(flags.labels) };
    const selected = flags["by-names"] ? named : await this.#live.selected(flags);
    if (selected === null) throw needTargets();
    if (flags["dry-run"]) this.trying("start a live query", { ...what, selected });
    const { campaign } = flags["by-names"]
      ? await this.call(liveQueriesApi.startByNames, { body: { ...what, selected: named } })
      : await this.call(liveQueriesApi.start, {
          body: { ...what, selected: selected as { hosts: number[]; labels: number[]; teams: number[] } },
        });
    await this.report(
      `live query ${campaign.id} was started on ${plural(campaign.Metrics.TotalHosts, "host")}`,
      campaign,
    );
  }
}
