// The settings of teams and of hosts without a team.

import { z } from "zod";
import { FailingPoliciesWebhook } from "../../../../../api/settings/app-config.ts";
import { TeamIntegrations, TeamWebhooks } from "../../../../../api/settings/teams.ts";
import { isRecord } from "../../../../../text/record.ts";
import { merge } from "../../../../settings/app-config/merge.ts";
import { noTeamFeatures } from "../../../../settings/app-config/sections/organization.ts";
import { noHostExpiry } from "../../../../settings/app-config/sections/rules.ts";
import {
  noFailingPoliciesMail,
  noFailingPoliciesWebhook,
  noHostActivitiesWebhook,
  noHostStatusWebhook,
} from "../../../../settings/app-config/sections/webhooks.ts";
import { noIntegrations, noMdm } from "../../../../settings/teams/defaults.ts";
import type { NoTeamSettings } from "../../../../settings/teams/no-team.ts";
import type { WholeSettings } from "../../../../settings/teams/whole.ts";
import { WholeTeam } from "../../../../settings/teams/whole.ts";
import type { DesiredValue, RequestedChange } from "../../changes.ts";

const Failing = FailingPoliciesWebhook.omit({ policy_ids: true });
const SettingsValue = WholeTeam.extend({
  webhook_settings: TeamWebhooks.extend({ failing_policies_webhook: Failing }),
});
export type SettingsValue = z.output<typeof SettingsValue>;
const NoTeamValue = z.object({
  webhook_settings: TeamWebhooks.omit({ host_status_webhook: true }).extend({ failing_policies_webhook: Failing }),
  integrations: TeamIntegrations.pick({ ticketing_a: true, ticketing_b: true }),
});
export type NoTeamValue = z.output<typeof NoTeamValue>;

const { policy_ids: _none, ...noFailing } = noFailingPoliciesWebhook;

export const teamSettingsDefaults: SettingsValue = {
  host_expiry_settings: noHostExpiry,
  features: noTeamFeatures,
  webhook_settings: {
    host_status_webhook: null,
    failing_policies_webhook: noFailing,
    failing_policies_mail: noFailingPoliciesMail,
    host_activities_webhook: null,
  },
  integrations: noIntegrations,
  mdm: noMdm,
};
export const noTeamDefaults: NoTeamValue = {
  webhook_settings: {
    failing_policies_webhook: noFailing,
    failing_policies_mail: noFailingPoliciesMail,
    host_activities_webhook: null,
  },
  integrations: { ticketing_a: [], ticketing_b: [] },
};

const unnumbered = <T extends { failing_policies_webhook: z.output<typeof FailingPoliciesWebhook> }>(hooks: T) => {
  const { policy_ids: _ids, ...failing } = hooks.failing_policies_webhook;
  return { ...hooks, failing_policies_webhook: failing };
};

export function settingsValue(settings: WholeSettings): SettingsValue {
  const { host_expiry_settings, features, webhook_settings, integrations, mdm } = settings;
  return { host_expiry_settings, features, webhook_settings: unnumbered(webhook_settings), integrations, mdm };
}

export const noTeamValue = ({ webhook_settings, integrations }: NoTeamSettings): NoTeamValue => ({
  webhook_settings: unnumbered(webhook_settings),
  integrations,
});

export interface DesiredSettings extends DesiredValue {
  readonly value: SettingsValue;
}

/** Webhooks that are null by default. One that is given gets these values for fields that are left out. */
const unsetHooks = { host_status_webhook: noHostStatusWebhook, host_activities_webhook: noHostActivitiesWebhook };

function withHooks<Settings extends { webhook_settings: object }>(base: Settings, value: unknown): Settings {
  const hooks = isRecord(value) && isRecord(value.webhook_settings) ? value.webhook_settings : {};
  const whole = Object.entries(unsetHooks).filter(([name]) => isRecord(hooks[name]));
  return { ...base, webhook_settings: { ...base.webhook_settings, ...Object.fromEntries(whole) } };
}

/** Strict about keys. Fields that are left out get their defaults. */
export function readTeamSettings({ value }: RequestedChange): DesiredSettings {
  const base = withHooks(teamSettingsDefaults, value);
  return { value: merge(SettingsValue, base, value, "value") as SettingsValue };
}

export interface DesiredNoTeam extends DesiredValue {
  readonly value: NoTeamValue;
}

export const readNoTeamSettings = ({ value }: RequestedChange): DesiredNoTeam => ({
  value: merge(NoTeamValue, withHooks(noTeamDefaults, value), value, "value") as NoTeamValue,
});
