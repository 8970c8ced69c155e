import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { Delivery, webhookEvents, webhooksApi } from "../../api/automations/webhooks.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed } from "../../cli/errors.ts";
import { dryRunFlag } from "../../cli/flags.ts";

export default class WebhooksTest extends ClientCommand {
  static override summary = "Send a sample of an event, and report the result.";
  static override endpoints = [webhooksApi.test];
  static override args = {
    event: Args.string({ required: true, description: "event to send a sample of", options: [...webhookEvents] }),
  };
  static override flags = {
    url: Flags.string({ summary: "URL to send it to; default: the URL that is configured for this event." }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> activities"];

  async run() {
    const { args, flags } = await this.parse(WebhooksTest);
    const event = args.event as (typeof webhookEvents)[number];
    const body = { event, ...(flags.url === undefined ? {} : { url: flags.url }) };
    if (flags["dry-run"]) {
      this.trying(`send a sample of ${event} to ${flags.url ?? "its configured URL"}`, null);
    }
    const { delivery } = await this.call(webhooksApi.test, { body });
    if (delivery.state !== "delivered") {
      if (this.structured) await this.printOne(delivery, { schema: () => Delivery });
      throw failed(`${delivery.url} refused it: ${delivery.last_error}`);
    }
    await this.report(`${delivery.url} accepted it (${delivery.last_status})`, delivery, { schema: () => Delivery });
  }
}
