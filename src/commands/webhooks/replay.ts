import * as Flags from "@oclif/core/flags";
import { webhooksApi } from "../../api/automations/webhooks.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { deliveryView } from "../../cli/topics/webhooks/view.ts";
import { plural } from "../../text/plural.ts";

export default class WebhooksReplay extends ClientCommand {
  static override summary = "Send a delivery again, or all deliveries that were given up.";
  static override description =
    "It is sent with the same message id (webhook-id), so that a receiver can recognize a message that it has already processed. If the delivery is " +
    "waiting for a retry, it is sent immediately.";
  static override endpoints = [webhooksApi.replay, webhooksApi.deliveries];
  static override args = { id: args.optional("id of the delivery") };
  static override flags = {
    dead: Flags.boolean({ summary: "All deliveries that were given up." }),
    url: Flags.string({ summary: "With --dead: only deliveries to this destination.", dependsOn: ["dead"] }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1",
    "<%= config.bin %> <%= command.id %> --dead --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(WebhooksReplay);
    if ((args.id === undefined) !== (flags.dead === true))
      throw usage("no delivery is given", "Give its id, or --dead.");
    if (args.id !== undefined) return this.#replayDelivery(args.id, flags["dry-run"]);
    const query = { state: "dead", order_key: "id", ...(flags.url === undefined ? {} : { url: flags.url }) } as const;
    this.common.all = true;
    const rows = await this.rows(webhooksApi.deliveries, { query }, "deliveries");
    // Skips what `svc webhooks test` sent, because it was only a sample.
    const dead = rows.filter(({ event }) => event !== "test");
    const what = plural(dead.length, "delivery", "deliveries");
    if (flags["dry-run"]) {
      for (const { id } of dead) await this.tryOut(webhooksApi.replay, { params: { id: String(id) } });
      return this.printPlan(
        `send ${what} again`,
        dead.map(({ id }) => id),
      );
    }
    if (dead.length === 0) return this.note("no deliveries were given up");
    await this.confirm(`Send ${what} again?`);
    const replayed = [];
    for (const { id } of dead)
      replayed.push((await this.call(webhooksApi.replay, { params: { id: String(id) } })).delivery);
    this.note(`${what} will be sent again`);
    if (this.structured) await this.printList(replayed, deliveryView);
  }

  async #replayDelivery(id: string, dryRun: boolean): Promise<void> {
    if (dryRun) {
      const { delivery } = await this.call(webhooksApi.delivery, { params: { id } });
      const { state, url, event } = delivery;
      this.trying(`send delivery ${id} (${event}, ${state}) to ${url} again`, {
        id: delivery.id,
        state,
        url,
      });
    }
    const { delivery } = await this.call(webhooksApi.replay, { params: { id } });
    await this.report(`delivery ${delivery.id} will be sent to ${delivery.url} again`, delivery, {
      schema: deliveryView.schema,
    });
  }
}
