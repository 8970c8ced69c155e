// The rules for a team's settings, some of which depend on the organization's configuration.

import { isDeepStrictEqual } from "node:util";
import type { ConfigSections } from "../../../api/settings/app-config.ts";
import { type ManagedDevices, osSettingNames, osSettings } from "../../../api/settings/os-settings.ts";
import type { NoTeam, TeamMdm } from "../../../api/settings/teams.ts";
import { isHttpUrl } from "../../../text/urls.ts";
import type { FieldError } from "../../platform/core/errors.ts";
import { isConnected } from "../app-config/between.ts";
import { entryKeys } from "../app-config/sections/integrations.ts";
import { elsewhereProblems, osSettingsProblems, storedElsewhere } from "../app-config/sections/mdm-rules.ts";
import { additionalQueryProblems } from "../app-config/sections/organization.ts";
import { expiryProblem, under } from "../app-config/sections/rules.ts";
import {
  failingPoliciesMailProblems,
  failingPoliciesProblems,
  hostActivitiesProblems,
  hostStatusProblems,
  mailServerProblems,
} from "../app-config/sections/webhooks.ts";
import { noMdm } from "./defaults.ts";
import type { SettingsInput, WholeSettings } from "./whole.ts";

interface Change {
  readonly before: WholeSettings;
  readonly after: WholeSettings;
  readonly change: SettingsInput;
  readonly config: ConfigSections;
  /** Whether settings can be turned on only while the device management that they need is on. */
  readonly isGated: boolean;
}

/** Checks only the given settings: existing ones stay valid if the organization's configuration has changed. */
export function settingsProblems({ before, after, change, config, isGated }: Change): FieldError[] {
  const errors: FieldError[] = [];
  const { host_expiry_enabled, host_expiry_window } = after.host_expiry_settings;
  const reason = change.host_expiry_settings && expiryProblem(host_expiry_enabled, host_expiry_window);
  if (reason) errors.push({ name: "host_expiry_settings.host_expiry_window", reason });
  if (change.features) errors.push(...under("features", additionalQueryProblems(after.features)));
  const { host_status_webhook: status } = after.webhook_settings;
  if (change.webhook_settings?.host_status_webhook && status)
    errors.push(...under("webhook_settings.host_status_webhook", hostStatusProblems(status)));
  errors.push(...automationProblems(after, change, config));
  if (change.integrations) errors.push(...integrationProblems(after.integrations, config));
  if (change.mdm)
    errors.push(
      ...under("mdm", [
        ...elsewhereProblems(storedElsewhere, change.mdm, before.mdm),
        ...(isGated ? offProblems(before.mdm, after.mdm, config) : []),
        ...osSettingsProblems(after.mdm),
      ]),
    );
  return errors;
}

type Automations = Pick<NoTeam, "webhook_settings" | "integrations">;

/** Checks the webhooks and tickets that hosts without a team have too. */
export function automationProblems(
  { webhook_settings: hooks, integrations }: Automations,
  change: {
    webhook_settings?: { host_activities_webhook?: unknown } | null | undefined;
    integrations?: unknown;
  },
  config: Pick<ConfigSections, "integrations" | "smtp_settings">,
): FieldError[] {
  const errors: FieldError[] = [];
  const hook = "webhook_settings.failing_policies_webhook";
  if (change.webhook_settings) errors.push(...under(hook, failingPoliciesProblems(hooks.failing_policies_webhook)));
  const mail = hooks.failing_policies_mail;
  if (change.webhook_settings)
    errors.push(
      ...under("webhook_settings.failing_policies_mail", [
        ...failingPoliciesMailProblems(mail),
        ...mailServerProblems(mail, config.smtp_settings),
      ]),
    );
  const { host_activities_webhook: activities } = hooks;
  if (change.webhook_settings?.host_activities_webhook && activities)
    errors.push(...under("webhook_settings.host_activities_webhook", hostActivitiesProblems(activities)));
  if (change.integrations) errors.push(...ticketingProblems(integrations, config));
  const on = [
    ...(hooks.failing_policies_webhook.enable_failing_policies_webhook
      ? [`${hook}.enable_failing_policies_webhook`]
      : []),
    ...lists.flatMap((list) =>
      integrations[list].flatMap((entry, i) =>
        entry.enable_failing_policies ? [`integrations.${list}.${i}.enable_failing_policies`] : [],
      ),
    ),
  ];
  const name = on.findLast((path) => change[path.split(".")[0] as keyof typeof change]);
  if (on.length > 1 && name !== undefined)
    errors.push({ name, reason: "only one failing policies automation can be enabled at a time" });
  return errors;
}

const lists = ["ticketing_a", "ticketing_b"] as const;

/** Teams refer to ticketing entries of the organization. Each entry may be used once. */
function ticketingProblems(
  integrations: Automations["integrations"],
  config: Pick<ConfigSections, "integrations">,
): FieldError[] {
  return lists.flatMap((list) => {
    const identities = config.integrations[list].map((entry) => identityOf(list, entry));
    const listed = new Set<string>();
    return integrations[list].flatMap((entry, i) => {
      const identity = identityOf(list, entry);
      const name = `integrations.${list}.${i}.url`;
      const keys = entryKeys[list].join(" and ");
      if (!identities.includes(identity))
        return [{ name, reason: `the global configuration has no ${list} integration with this ${keys}` }];
      if (listed.has(identity)) return [{ name, reason: `another entry has the same ${keys}` }];
      listed.add(identity);
      return [];
    });
  });
}

export const identityOf = (list: keyof typeof entryKeys, entry: object): string =>
  JSON.stringify(entryKeys[list].map((key) => (entry as Record<string, unknown>)[key]));

function integrationProblems(
  { calendar, conditional_access_enabled: access }: WholeSettings["integrations"],
  config: ConfigSections,
): FieldError[] {
  const errors: FieldError[] = [];
  if (calendar.enable_calendar_events && config.integrations.calendar.length === 0)
    errors.push({
      name: "integrations.calendar.enable_calendar_events",
      reason: "the global configuration has no calendar integration",
    });
  if (calendar.webhook_url === "" ? calendar.enable_calendar_events : !isHttpUrl(calendar.webhook_url))
    errors.push({ name: "integrations.calendar.webhook_url", reason: "must be an http or https URL" });
  if (access && !isConnected(config.conditional_access))
    errors.push({
      name: "integrations.conditional_access_enabled",
      reason: "needs conditional_access of the global configuration to be configured",
    });
  return errors;
}

/** The device management that settings need. */
const needs: readonly (readonly [keyof TeamMdm, ManagedDevices])[] = [
  ...osSettingNames.flatMap((name) => {
    const { needs: devices } = osSettings[name];
    return devices === null ? [] : ([[name, devices]] as const);
  }),
  ["macos_settings", "Apple"],
  ["macos_setup", "Apple"],
  ["windows_settings", "Windows"],
  ["android_settings", "Android"],
];

/** Settings that need device management can be turned on only while it is on. */
function offProblems(before: TeamMdm, after: TeamMdm, { mdm }: ConfigSections): FieldError[] {
  const isOn: Readonly<Record<ManagedDevices, boolean>> = {
    Apple: mdm.enabled_and_configured,
    Windows: mdm.windows_enabled_and_configured,
    Android: mdm.android_enabled_and_configured,
    "Apple or Windows": mdm.enabled_and_configured || mdm.windows_enabled_and_configured,
  };
  const encryption = (
    [
      ["macos", "Apple"],
      ["windows", "Windows"],
    ] as const
  ).flatMap(([platform, devices]) =>
    after.disk_encryption[platform] && !before.disk_encryption[platform] && !isOn[devices]
      ? [{ name: `disk_encryption.${platform}`, reason: needed(devices) }]
      : [],
  );
  const others = needs
    .filter(([name, devices]) => {
      const isUnchanged = [before[name], noMdm[name]].some((value) => isDeepStrictEqual(value, after[name]));
      return !isOn[devices] && !isUnchanged;
    })
    .map(([name, devices]) => ({ name, reason: needed(devices) }));
  return [...encryption, ...others];
}

const needed = (devices: string): string => `needs device management of ${devices} devices to be turned on`;
