import { webhooksApi } from "../../../api/automations/webhooks.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { deliveryView } from "../../../cli/topics/webhooks/view.ts";

export default class WebhooksDeliveriesList extends ClientCommand {
  static override summary =
    "List deliveries of webhooks, tickets and mails about policies (sent, pending or given up), newest first.";
  static override endpoints = [webhooksApi.deliveries];
  static override flags = { ...queryFlags(webhooksApi.deliveries), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --state dead",
    "<%= config.bin %> <%= command.id %> --event failing_policies --limit 20 -o json",
  ];

  async run() {
    const { flags } = await this.parse(WebhooksDeliveriesList);
    const query = queryOf(webhooksApi.deliveries, flags);
    await this.printList(this.pages(webhooksApi.deliveries, { query }, "deliveries"), deliveryView);
  }
}
