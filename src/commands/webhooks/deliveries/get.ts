import { DeliveryWithPayload, webhooksApi } from "../../../api/automations/webhooks.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args } from "../../../cli/flags.ts";

export default class WebhooksDeliveriesGet extends ClientCommand {
  static override summary = "Show a delivery with its payload.";
  static override endpoints = [webhooksApi.delivery];
  static override args = { id: args.required("id of the delivery") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 -o yaml"];

  async run() {
    const { args } = await this.parse(WebhooksDeliveriesGet);
    const { delivery } = await this.call(webhooksApi.delivery, { params: { id: args.id } });
    await this.printOne(delivery, { schema: () => DeliveryWithPayload });
  }
}
