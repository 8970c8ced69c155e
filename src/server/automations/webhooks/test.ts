import type { z } from "zod";
import type { webhookEvents } from "../../../api/automations/webhook-events.ts";
import type { Delivery, webhooksApi } from "../../../api/automations/webhooks.ts";
import type { WebhookSettings } from "../../../api/settings/app-config.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid, notFound, premiumOption } from "../../platform/core/errors.ts";
import { serverUrl } from "../../platform/core/http/links.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { checkDestination } from "../../platform/core/outbound/fetch.ts";
import { addAttempted, newRow } from "../../platform/outbox/service.ts";
import { deliveryOf } from "../../platform/outbox/view.ts";
import { noTeamSettings } from "../../settings/teams/no-team.ts";
import type { TeamSettings } from "../../settings/teams/tables.ts";
import { deliverWebhook } from "./deliver.ts";
import { samplePayload } from "./samples.ts";

type Event = (typeof webhookEvents)[number];

/** The webhooks of settings by the events that they report. */
const settingOf = {
  activities: "activities_webhook",
  host_activities: "host_activities_webhook",
  host_status: "host_status_webhook",
  failing_policies: "failing_policies_webhook",
  vulnerabilities: "vulnerabilities_webhook",
} as const satisfies Record<Event, keyof WebhookSettings>;

/** The URL of the event in the settings of the organization, or of a team; 0 stands for hosts without a team. */
async function configuredUrl(ctx: Context, event: Event, teamId: number | undefined): Promise<string> {
  const name = settingOf[event];
  if (teamId === undefined) return (await ctx.config.current()).webhook_settings[name].destination_url;
  needPremium(ctx, () => premiumOption("team_id"));
  const settings = teamId === 0 ? await noTeamSettings(ctx.store) : (await ctx.store.teams.get(teamId))?.settings;
  if (!settings) throw notFound("team", teamId, "team_id");
  if (name === "activities_webhook" || name === "vulnerabilities_webhook")
    throw invalid("team_id", `teams have no webhook for ${event}`);
  const hooks: TeamSettings["webhook_settings"] = settings.webhook_settings;
  return hooks?.[name]?.destination_url ?? "";
}

/** Sends a sample once, immediately, bypassing the destination's queue. The outcome is stored among the deliveries. */
export async function testWebhook(
  ctx: Context,
  { event, url: otherUrl, team_id }: z.output<typeof webhooksApi.test.body>,
): Promise<{ delivery: Delivery }> {
  const configured = await configuredUrl(ctx, event, team_id);
  const url = otherUrl ?? configured;
  const place = team_id === undefined ? "" : " for this team";
  if (url === "") throw invalid("url", `is required: no destination_url is configured for ${event}${place}`);
  const problem = checkDestination(url);
  if (problem) throw invalid("url", problem);
  const payload = samplePayload(event, ctx.clock.iso(), await serverUrl(ctx));
  const row = newRow(ctx, { kind: "webhook", event: "test", destination: url, url, payload });
  const outcome = await deliverWebhook(ctx, row);
  const delivery = await addAttempted(ctx, row, outcome);
  return { delivery: deliveryOf(delivery) };
}
