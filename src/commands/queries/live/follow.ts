import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args } from "../../../cli/flags.ts";
import { LiveQueries } from "../../../cli/topics/queries/live.ts";

export default class QueriesLiveFollow extends ClientCommand {
  static override summary = "Print the results of one of your live queries, from the first result until it ends.";
  static override description = "Exit code 6 if some hosts did not reply. An interrupt does not cancel the query.";
  static override endpoints = [liveQueriesApi.stream, liveQueriesApi.get];
  static override args = { id: args.required("number of the live query") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 -o csv"];

  readonly #live = new LiveQueries(this);

  async run() {
    const { args } = await this.parse(QueriesLiveFollow);
    const { live_query } = await this.call(liveQueriesApi.get, { params: { id: args.id } });
    this.#live.account(await this.#live.follow(live_query, { keep: true }));
  }
}
