import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { liveView } from "../../../cli/topics/queries/live-query.ts";

export default class QueriesLiveList extends ClientCommand {
  static override summary = "List your live queries.";
  static override endpoints = [liveQueriesApi.list];
  static override flags = { ...queryFlags(liveQueriesApi.list), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --order-key id --order-direction desc"];

  async run() {
    const { flags } = await this.parse(QueriesLiveList);
    const query = queryOf(liveQueriesApi.list, flags);
    await this.printList(this.pages(liveQueriesApi.list, { query }, "live_queries"), liveView);
  }
}
