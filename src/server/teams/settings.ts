// What a team has of its own beside name and agent options: how it is shown, and what a change makes of it.
import type { ConfigSections, Features, HostStatusWebhook } from "../../api/app-config.ts";
import type { Team, TeamIntegrations, TeamMdm, TeamSettingsChange, TeamWebhooks } from "../../api/teams.ts";
import { over } from "../app-config/merge.ts";
import { newHostsUpdated, respellMdm } from "../app-config/sections/mdm-rules.ts";
import { noHostStatusWebhook } from "../app-config/sections/webhooks.ts";
import { invalidFields } from "../core/errors.ts";
import { noIntegrations, noMdm, noWebhooks } from "./defaults.ts";
import { settingsProblems } from "./rules.ts";
import type { TeamSettings } from "./tables.ts";

export type WholeSettings = Pick<
  Team,
  "host_expiry_settings" | "features" | "webhook_settings" | "integrations" | "mdm"
>;

/** The settings with the defaults of what was never set. */
export const shownSettings = (settings: TeamSettings): WholeSettings => ({
  host_expiry_settings: settings.host_expiry_settings,
  features: settings.features,
  webhook_settings: over(noWebhooks, settings.webhook_settings) as TeamWebhooks,
  integrations: over(noIntegrations, settings.integrations) as TeamIntegrations,
  mdm: over(noMdm, settings.mdm) as TeamMdm,
});

/** What endpoints for files give too. */
export type GivenSettings = TeamSettingsChange & { readonly features?: Features | undefined };

/** The settings after a change; 422 where they break a rule. */
export function changedSettings(before: TeamSettings, given: GivenSettings, config: ConfigSections): WholeSettings {
  const old = shownSettings(before);
  const mdm = given.mdm === undefined ? undefined : respellMdm(given.mdm);
  const merged: WholeSettings = {
    features: given.features ?? old.features,
    host_expiry_settings: over(
      old.host_expiry_settings,
      given.host_expiry_settings,
    ) as WholeSettings["host_expiry_settings"],
    webhook_settings: {
      host_status_webhook: changedHostStatus(
        old.webhook_settings.host_status_webhook,
        given.webhook_settings?.host_status_webhook,
      ),
      failing_policies_webhook: over(
        old.webhook_settings.failing_policies_webhook,
        given.webhook_settings?.failing_policies_webhook,
      ) as TeamWebhooks["failing_policies_webhook"],
    },
    integrations: over(old.integrations, given.integrations) as TeamIntegrations,
    mdm: newHostsUpdated(over(old.mdm, mdm) as TeamMdm, mdm, old.mdm),
  };
  const errors = settingsProblems({ before: old, after: merged, given, config });
  if (errors.length > 0) throw invalidFields(errors);
  return merged;
}

function changedHostStatus(
  before: HostStatusWebhook | null,
  given: Partial<HostStatusWebhook> | null | undefined,
): HostStatusWebhook | null {
  if (given === undefined || given === null) return given === null ? null : before;
  return over(before ?? noHostStatusWebhook, given) as HostStatusWebhook;
}
