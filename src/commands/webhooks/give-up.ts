import { webhooksApi } from "../../api/automations/webhooks.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { deliveryView } from "../../cli/topics/webhooks/view.ts";

export default class WebhooksGiveUp extends ClientCommand {
  static override summary = "Give up a pending delivery, so that the next ones to its destination are sent.";
  static override destructive = true;
  static override description = "`svc webhooks replay` can send it later.";
  static override endpoints = [webhooksApi.giveUp, webhooksApi.delivery];
  static override args = { id: args.required("id of the delivery") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --yes"];

  async run() {
    const { args, flags } = await this.parse(WebhooksGiveUp);
    const params = { id: args.id };
    const { delivery: before } = await this.call(webhooksApi.delivery, { params });
    const what = `delivery ${before.id} (${before.event}, ${before.state}) to ${before.url}`;
    if (flags["dry-run"]) this.trying(`give up ${what}`, { id: before.id, state: before.state });
    await this.confirm(`Give up ${what}?`);
    const { delivery } = await this.call(webhooksApi.giveUp, { params });
    await this.report(`gave up delivery ${delivery.id}`, delivery, { schema: deliveryView.schema });
  }
}
