import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../../cli/client-command.ts";

export default class QueriesLiveStatus extends ClientCommand {
  static override summary = "Check that live queries can run and their results can be stored.";
  static override endpoints = [liveQueriesApi.status, liveQueriesApi.resultStore, liveQueriesApi.socketInfo];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(QueriesLiveStatus);
    await this.call(liveQueriesApi.status);
    await this.call(liveQueriesApi.resultStore);
    await this.call(liveQueriesApi.socketInfo);
    await this.report("live queries can run", { live_query: "ok", result_store: "ok", results: "ok" });
  }
}
