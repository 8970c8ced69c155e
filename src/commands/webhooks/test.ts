import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { webhookEvents } from "../../api/automations/webhook-events.ts";
import { Delivery, webhooksApi } from "../../api/automations/webhooks.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed } from "../../cli/errors.ts";
import { dryRunFlag, ofTeam } from "../../cli/flags.ts";

export default class WebhooksTest extends ClientCommand {
  static override summary = "Send a sample of an event, and report the result.";
  static override endpoints = [webhooksApi.test];
  static override args = {
    event: Args.string({ required: true, description: "event to send a sample of", options: [...webhookEvents] }),
  };
  static override flags = {
    url: Flags.string({ summary: "URL to send it to; default: the URL that is configured for this event." }),
    team: Flags.string({
      summary: "Send it to the URL that is configured for this team; 0 stands for hosts without a team.",
      helpValue: "TEAM",
    }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> activities",
    "<%= config.bin %> <%= command.id %> host_activities --team Workstations",
  ];

  async run() {
    const { args, flags } = await this.parse(WebhooksTest);
    const event = args.event as (typeof webhookEvents)[number];
    const { team, url } = flags;
    const body = { event, ...(url === undefined ? {} : { url }), ...(await this.teamFilter(team)) };
    if (flags["dry-run"]) {
      const configured = team === undefined ? "its configured URL" : `the URL configured for ${ofTeam(team)}`;
      this.trying(`send a sample of ${event} to ${url ?? configured}`, null);
    }
    const { delivery } = await this.call(webhooksApi.test, { body });
    if (delivery.state !== "delivered") {
      if (this.structured) await this.printOne(delivery, { schema: () => Delivery });
      throw failed(`${delivery.url} refused it: ${delivery.last_error}`);
    }
    await this.report(`${delivery.url} accepted it (${delivery.last_status})`, delivery, { schema: () => Delivery });
  }
}
