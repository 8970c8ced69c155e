import { noOsSettings } from "../../../api/settings/os-settings.ts";
import type { TeamIntegrations, TeamMdm, TeamWebhooks } from "../../../api/settings/teams.ts";
import { noMacosSetup } from "../app-config/sections/mdm-rules.ts";
import { noFailingPoliciesMail, noFailingPoliciesWebhook } from "../app-config/sections/webhooks.ts";

export const noWebhooks: TeamWebhooks = {
  host_status_webhook: null,
  failing_policies_webhook: noFailingPoliciesWebhook,
  failing_policies_mail: noFailingPoliciesMail,
  host_activities_webhook: null,
};
export const noIntegrations: TeamIntegrations = {
  ticketing_a: [],
  ticketing_b: [],
  calendar: { enable_calendar_events: false, webhook_url: "" },
  conditional_access_enabled: false,
};
export const noMdm: TeamMdm = {
  ...noOsSettings,
  macos_settings: { custom_settings: [] },
  windows_settings: { custom_settings: [] },
  android_settings: { custom_settings: [] },
  macos_setup: {
    ...noMacosSetup,
    script: "",
    software: [],
  },
};
