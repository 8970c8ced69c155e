import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args } from "../../../cli/flags.ts";
import { liveView } from "../../../cli/topics/queries/live-query.ts";

export default class QueriesLiveGet extends ClientCommand {
  static override summary = "Show one of your live queries.";
  static override endpoints = [liveQueriesApi.get];
  static override args = { id: args.required("number of the live query") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args } = await this.parse(QueriesLiveGet);
    const { live_query } = await this.call(liveQueriesApi.get, { params: { id: args.id } });
    await this.printOne(live_query, {
      ...liveView,
      columns: [
        ...liveView.columns,
        { key: "counts.cancelled", header: "cancelled" },
        { key: "counts.waiting", header: "waiting" },
        { key: "finished_at", header: "ended" },
        { key: "queue_until", header: "queued until" },
      ],
    });
  }
}
