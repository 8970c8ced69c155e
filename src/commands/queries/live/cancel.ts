import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";
import { accounting } from "../../../cli/topics/queries/live.ts";
import { liveView } from "../../../cli/topics/queries/live-query.ts";

export default class QueriesLiveCancel extends ClientCommand {
  static override summary = "End one of your live queries.";
  static override endpoints = [liveQueriesApi.get, liveQueriesApi.cancel];
  static override args = { id: args.required("number of the live query") };
  static override flags = { ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1",
    "<%= config.bin %> <%= command.id %> 1 --dry-run",
  ];

  async run() {
    const { args, flags } = await this.parse(QueriesLiveCancel);
    const params = { id: args.id };
    if (flags["dry-run"]) {
      const { live_query } = await this.call(liveQueriesApi.get, { params });
      this.trying(`end live query ${live_query.id} (${live_query.status})`, live_query);
    }
    const { live_query } = await this.call(liveQueriesApi.cancel, { params });
    await this.report(`live query ${live_query.id} has ended: ${accounting(live_query.counts)}`, live_query, liveView);
  }
}
