// Team settings other than name and agent options: how they are shown, and how changes are applied.

import type { ConfigSections } from "../../../api/settings/app-config.ts";
import type { TeamIntegrations, TeamMdm, TeamWebhooks } from "../../../api/settings/teams.ts";
import type { Context, Services } from "../../platform/core/context.ts";
import { invalidFields } from "../../platform/core/errors.ts";
import { blockedFields } from "../../platform/core/outbound/fields.ts";
import { mergedValues } from "../app-config/merge.ts";
import { completeOsSettings, respellMdm } from "../app-config/sections/mdm-rules.ts";
import { noTeamFeatures } from "../app-config/sections/organization.ts";
import { under } from "../app-config/sections/rules.ts";
import { noHostActivitiesWebhook, noHostStatusWebhook } from "../app-config/sections/webhooks.ts";
import { versionProblems } from "../apple-versions/offered.ts";
import { checkVariables } from "../variables/use.ts";
import { noIntegrations, noMdm, noWebhooks } from "./defaults.ts";
import { settingsProblems } from "./rules.ts";
import type { TeamSettings } from "./tables.ts";
import type { SettingsInput, WholeSettings } from "./whole.ts";

/** The settings, with defaults for those that were never set. */
export const shownSettings = (settings: TeamSettings): WholeSettings => ({
  host_expiry_settings: settings.host_expiry_settings,
  features: mergedValues(noTeamFeatures, settings.features) as WholeSettings["features"],
  webhook_settings: mergedValues(noWebhooks, settings.webhook_settings) as TeamWebhooks,
  integrations: mergedValues(noIntegrations, settings.integrations) as TeamIntegrations,
  mdm: mergedValues(noMdm, settings.mdm) as TeamMdm,
});

/** The settings after a change. 422 for violated rules; those that need device management to be on only if it is gated. */
export function changedSettings(
  before: TeamSettings,
  change: SettingsInput,
  config: ConfigSections,
  { isGated = true } = {},
): WholeSettings {
  const old = shownSettings(before);
  const mdm = change.mdm === undefined ? undefined : respellMdm(change.mdm);
  const merged: WholeSettings = {
    features: {
      ...old.features,
      ...change.features,
      historical_data: { ...old.features.historical_data, ...change.features?.historical_data },
    },
    host_expiry_settings: mergedValues(
      old.host_expiry_settings,
      change.host_expiry_settings,
    ) as WholeSettings["host_expiry_settings"],
    webhook_settings: {
      host_status_webhook: changedHook(
        noHostStatusWebhook,
        old.webhook_settings.host_status_webhook,
        change.webhook_settings?.host_status_webhook,
      ),
      failing_policies_webhook: mergedValues(
        old.webhook_settings.failing_policies_webhook,
        change.webhook_settings?.failing_policies_webhook,
      ) as TeamWebhooks["failing_policies_webhook"],
      failing_policies_mail: mergedValues(
        old.webhook_settings.failing_policies_mail,
        change.webhook_settings?.failing_policies_mail,
      ) as TeamWebhooks["failing_policies_mail"],
      host_activities_webhook: changedHook(
        noHostActivitiesWebhook,
        old.webhook_settings.host_activities_webhook,
        change.webhook_settings?.host_activities_webhook,
      ),
    },
    integrations: mergedValues(old.integrations, change.integrations) as TeamIntegrations,
    mdm: completeOsSettings(mergedValues(old.mdm, mdm) as TeamMdm, mdm, old.mdm),
  };
  const errors = settingsProblems({ before: old, after: merged, change, config, isGated });
  if (errors.length > 0) throw invalidFields(errors);
  return merged;
}

/**
 * Team settings with URLs to which the server sends requests. Ticket trackers are part of the organization's
 * settings.
 */
const outbound = ["webhook_settings.*.destination_url", "integrations.calendar.webhook_url"];

/**
 * 422 if the change sets a URL to which the server may not send requests. `at` is the path of the settings in the
 * body.
 */
export async function checkAddresses(
  { settings }: Pick<Services, "settings">,
  before: object,
  after: object,
  at?: string,
): Promise<void> {
  const errors = await blockedFields(settings, outbound, before, after);
  if (errors.length > 0) throw invalidFields(at === undefined ? errors : under(at, errors));
}

/** No variable is for a team that is just being created, except those that are for all. */
const NEW_TEAM = -1;

/** Checks the rules that need more than the settings. 422 for a violation. `at` is the path of the settings in the body. */
export async function checkChange(
  inside: Pick<Context, "settings" | "store" | "clock">,
  before: { readonly id: number; readonly settings: TeamSettings } | null,
  after: WholeSettings,
  at?: string,
): Promise<void> {
  const shown = before && shownSettings(before.settings);
  await checkAddresses(inside, shown ?? {}, after, at);
  const errors = await versionProblems(inside, shown?.mdm ?? null, after.mdm);
  if (errors.length > 0) throw invalidFields(under(at === undefined ? "mdm" : `${at}.mdm`, errors));
  const { name_template: name } = after.mdm;
  if (name !== (shown?.mdm.name_template ?? ""))
    await checkVariables(inside.store, name, `${at === undefined ? "" : `${at}.`}mdm.name_template`, {
      use: "host_names",
      teamId: before?.id ?? NEW_TEAM,
    });
}

/** A webhook that is null until it is set; null clears it. `defaults` are for its fields that were never set. */
export function changedHook<Hook>(
  defaults: Hook,
  before: Hook | null,
  change: Partial<Hook> | null | undefined,
): Hook | null {
  if (change === undefined || change === null) return change === null ? null : before;
  return mergedValues(before ?? defaults, change) as Hook;
}
