import type { Delivery, webhookEvents } from "../../../api/automations/webhooks.ts";
import type { WebhookSettings } from "../../../api/settings/app-config.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { serverUrl } from "../../platform/core/http/links.ts";
import { checkDestination } from "../../platform/core/outbound/fetch.ts";
import { addAttempted, newRow } from "../../platform/outbox/service.ts";
import { deliveryOf } from "../../platform/outbox/view.ts";
import { deliverWebhook } from "./deliver.ts";
import { samplePayload } from "./samples.ts";

type Event = (typeof webhookEvents)[number];

const configured = (settings: WebhookSettings, event: Event): string =>
  ({
    activities: settings.activities_webhook,
    host_status: settings.host_status_webhook,
    failing_policies: settings.failing_policies_webhook,
    vulnerabilities: settings.vulnerabilities_webhook,
  })[event].destination_url;

/** Sends a sample once, immediately, bypassing the destination's queue. The outcome is stored among the deliveries. */
export async function testWebhook(
  ctx: Context,
  { event, url: otherUrl }: { event: Event; url?: string | undefined },
): Promise<{ delivery: Delivery }> {
  const { webhook_settings } = await ctx.config.current();
  const url = otherUrl ?? configured(webhook_settings, event);
  if (url === "") throw invalid("url", `is required: no destination_url is configured for ${event}`);
  const problem = checkDestination(url);
  if (problem) throw invalid("url", problem);
  const payload = samplePayload(event, ctx.clock.iso(), await serverUrl(ctx));
  const row = newRow(ctx, { kind: "webhook", event: "test", destination: url, url, payload });
  const outcome = await deliverWebhook(ctx, row);
  const delivery = await addAttempted(ctx, row, outcome);
  return { delivery: deliveryOf(delivery) };
}
