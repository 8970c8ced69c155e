import { webhooksApi } from "../../../api/automations/webhooks.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { destinationView } from "../../../cli/topics/webhooks/view.ts";

export default class WebhooksDestinationsList extends ClientCommand {
  static override summary = "List the URLs that webhooks are sent to, with the number of pending deliveries.";
  static override endpoints = [webhooksApi.destinations];
  static override flags = { ...queryFlags(webhooksApi.destinations), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --order-key url"];

  async run() {
    const { flags } = await this.parse(WebhooksDestinationsList);
    const query = queryOf(webhooksApi.destinations, flags);
    await this.printList(this.pages(webhooksApi.destinations, { query }, "destinations"), destinationView);
  }
}
