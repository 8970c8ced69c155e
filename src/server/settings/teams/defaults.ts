import type { TeamIntegrations, TeamMdm, TeamWebhooks } from "../../../api/settings/teams.ts";
import { noDiskEncryption, noMacosSetup, noUpdates } from "../app-config/sections/mdm-rules.ts";
import { noFailingPoliciesMail, noFailingPoliciesWebhook } from "../app-config/sections/webhooks.ts";

export const noWebhooks: TeamWebhooks = {
  host_status_webhook: null,
  failing_policies_webhook: noFailingPoliciesWebhook,
  failing_policies_mail: noFailingPoliciesMail,
};
export const noIntegrations: TeamIntegrations = {
  ticketing_a: [],
  ticketing_b: [],
  calendar: { enable_calendar_events: false, webhook_url: "" },
  conditional_access_enabled: false,
};
export const noMdm: TeamMdm = {
  enable_disk_encryption: false,
  disk_encryption: noDiskEncryption,
  windows_require_bitlocker_pin: false,
  enable_recovery_lock_password: false,
  name_template: "",
  ...noUpdates,
  macos_settings: { custom_settings: [] },
  windows_settings: { custom_settings: [] },
  android_settings: { custom_settings: [] },
  macos_setup: {
    ...noMacosSetup,
    script: "",
    software: [],
  },
};
