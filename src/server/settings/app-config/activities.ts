// Activities for a configuration change: specific activity types for some settings, and one `edited_config` entry for
// all others.

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type {
  AppConfig,
  ConfigSections,
  HostActivitiesWebhook,
  TeamFeatures,
} from "../../../api/settings/app-config.ts";
import { historyDatasets } from "../../../api/settings/history-settings.ts";
import type { OsSettings } from "../../../api/settings/os-settings.ts";
import { isRecord } from "../../../text/record.ts";
import type { ConfigChange } from "../../platform/activities/types/settings.ts";
import type { ActivityTypes } from "../../platform/activities/types.ts";
import type { SectionValues } from "./change.ts";
import { masked } from "./secrets.ts";
import type { Section } from "./section.ts";

/** An activity and the settings that it covers, so that no change is recorded twice. */
type RecordedChange = {
  [T in keyof ActivityTypes]: {
    readonly type: T;
    readonly details: ActivityTypes[T];
    /** Paths of the covered settings, including everything below them. */
    readonly of: readonly string[];
  };
}[keyof ActivityTypes];

interface TeamOf {
  readonly team_id: number | null;
  readonly team_name: string | null;
}
const noTeam: TeamOf = { team_id: null, team_name: null };

type DeviceSettings = OsSettings & { macos_setup: { enable_end_user_authentication: boolean } };

const updates = [
  ["macos_updates", "edited_macos_min_version"],
  ["ios_updates", "edited_ios_min_version"],
  ["ipados_updates", "edited_ipados_min_version"],
] as const;

/** Activities for the device management settings that teams have too. */
export function activitiesOfMdm(before: DeviceSettings, after: DeviceSettings, team: TeamOf): RecordedChange[] {
  const recorded: RecordedChange[] = [];
  for (const [key, type] of updates) {
    const fields = ["minimum_version", "deadline", "deadline_days"] as const;
    const { minimum_version, deadline, deadline_days } = after[key];
    if (fields.some((name) => after[key][name] !== before[key][name]))
      recorded.push({
        type,
        details: { ...team, minimum_version, deadline, ...(deadline_days === null ? {} : { deadline_days }) },
        of: fields.map((name) => `mdm.${key}.${name}`),
      });
  }
  if (!isDeepStrictEqual(after.windows_updates, before.windows_updates))
    recorded.push({
      type: "edited_windows_updates",
      details: { ...team, ...after.windows_updates },
      of: ["mdm.windows_updates"],
    });
  const newHosts = after.macos_updates.update_new_hosts;
  if (newHosts !== before.macos_updates.update_new_hosts)
    recorded.push({
      type: newHosts ? "enabled_macos_update_new_hosts" : "disabled_macos_update_new_hosts",
      details: { ...team },
      of: ["mdm.macos_updates.update_new_hosts"],
    });
  if (after.enable_disk_encryption !== before.enable_disk_encryption)
    recorded.push({
      type: after.enable_disk_encryption ? "enabled_macos_disk_encryption" : "disabled_macos_disk_encryption",
      details: { ...team },
      of: ["mdm.enable_disk_encryption"],
    });
  const endUsers = after.macos_setup.enable_end_user_authentication;
  if (endUsers !== before.macos_setup.enable_end_user_authentication)
    recorded.push({
      type: endUsers ? "enabled_macos_setup_end_user_auth" : "disabled_macos_setup_end_user_auth",
      details: { ...team },
      of: ["mdm.macos_setup.enable_end_user_authentication"],
    });
  return recorded;
}

function activitiesOfSwitches(before: ConfigSections, after: ConfigSections): RecordedChange[] {
  const recorded: RecordedChange[] = [];
  const details: Record<string, never> = {};
  const { windows_enabled_and_configured: windows, windows_migration_enabled: migration } = after.mdm;
  if (windows !== before.mdm.windows_enabled_and_configured)
    recorded.push({
      type: windows ? "enabled_windows_mdm" : "disabled_windows_mdm",
      details,
      of: ["mdm.windows_enabled_and_configured"],
    });
  if (migration !== before.mdm.windows_migration_enabled)
    recorded.push({
      type: migration ? "enabled_windows_mdm_migration" : "disabled_windows_mdm_migration",
      details,
      of: ["mdm.windows_migration_enabled"],
    });
  const { gitops_mode_enabled: gitops } = after.gitops;
  if (gitops !== before.gitops.gitops_mode_enabled)
    recorded.push({
      type: gitops ? "enabled_gitops_mode" : "disabled_gitops_mode",
      details,
      of: ["gitops.gitops_mode_enabled"],
    });
  const { exceptions } = after.gitops;
  if (!isDeepStrictEqual(exceptions, before.gitops.exceptions))
    recorded.push({ type: "edited_gitops_exceptions", details: { ...exceptions }, of: ["gitops.exceptions"] });
  return recorded;
}

function activitiesOfActivitiesWebhook(before: ConfigSections, after: ConfigSections): RecordedChange[] {
  const was = before.webhook_settings.activities_webhook;
  const is = after.webhook_settings.activities_webhook;
  return activitiesOfWebhook(
    { isOn: was.enable_activities_webhook, url: was.destination_url },
    { isOn: is.enable_activities_webhook, url: is.destination_url },
    { of: ["webhook_settings.activities_webhook"], team: {} },
  );
}

/** `team`: its hosts; without an id all hosts. Entries about the webhook of all activities have no team. */
export function activitiesOfHostActivitiesWebhook(
  was: HostActivitiesWebhook | null,
  is: HostActivitiesWebhook | null,
  team: TeamOf,
): RecordedChange[] {
  const [before, after] = [was, is].map((hook) => ({
    isOn: hook?.enable_host_activities_webhook ?? false,
    url: hook?.destination_url ?? "",
  })) as [SwitchedUrl, SwitchedUrl];
  return activitiesOfWebhook(before, after, { of: ["webhook_settings.host_activities_webhook"], team });
}

interface SwitchedUrl {
  readonly isOn: boolean;
  readonly url: string;
}

function activitiesOfWebhook(
  was: SwitchedUrl,
  is: SwitchedUrl,
  { of, team }: { readonly of: readonly string[]; readonly team: TeamOf | Record<string, never> },
): RecordedChange[] {
  const details = { webhook_url: is.url, ...team };
  if (is.isOn && !was.isOn) return [{ type: "enabled_activity_automations", details, of }];
  if (!is.isOn && was.isOn) return [{ type: "disabled_activity_automations", details: { ...team }, of }];
  return is.isOn && is.url !== was.url ? [{ type: "edited_activity_automations", details, of }] : [];
}

function activitiesOfConditionalAccess(before: ConfigSections, after: ConfigSections): RecordedChange[] {
  const recorded: RecordedChange[] = [];
  const [was, is] = [before.conditional_access, after.conditional_access];
  if (was.directory_tenant_id !== is.directory_tenant_id)
    recorded.push({
      type:
        is.directory_tenant_id === ""
          ? "deleted_conditional_access_integration_directory"
          : "added_conditional_access_integration_directory",
      details: {},
      of: ["conditional_access.directory_tenant_id"],
    });
  const fields = (Object.keys(is) as (keyof typeof is)[]).filter((name) => name.startsWith("provider_"));
  if (fields.some((name) => was[name] !== is[name]))
    recorded.push({
      type: is.provider_idp_id === "" ? "deleted_conditional_access_provider" : "added_conditional_access_provider",
      details: {},
      of: fields.map((name) => `conditional_access.${name}`),
    });
  recorded.push(
    ...activitiesOfAccessAutomations(
      before.integrations.conditional_access_enabled,
      after.integrations.conditional_access_enabled,
      { team_id: null, team_name: "" },
    ),
  );
  return recorded;
}

export const activitiesOfAccessAutomations = (
  was: boolean,
  is: boolean,
  details: { team_id: number | null; team_name: string },
): RecordedChange[] =>
  was === is
    ? []
    : [
        {
          type: is ? "enabled_conditional_access_automations" : "disabled_conditional_access_automations",
          details,
          of: ["integrations.conditional_access_enabled"],
        },
      ];

/** Datasets of the past that are recorded from now on, or no more. */
export const activitiesOfHistory = (
  was: TeamFeatures["historical_data"],
  is: TeamFeatures["historical_data"],
  team: TeamOf,
): RecordedChange[] =>
  historyDatasets
    .filter((dataset) => was[dataset] !== is[dataset])
    .map((dataset) => ({
      type: is[dataset] ? "enabled_historical_dataset" : "disabled_historical_dataset",
      details: { dataset, team: team.team_name, ...team },
      of: [`features.historical_data.${dataset}`],
    }));

/** All activities for a change of the configuration. */
export function activitiesOfConfig(
  sections: readonly Section[],
  before: SectionValues,
  after: SectionValues,
): RecordedChange[] {
  const [was, is] = [before, after].map(
    (values) =>
      Object.fromEntries(
        sections.map((section) => [section.name, values.get(section.name) ?? section.defaults]),
      ) as ConfigSections,
  ) as [ConfigSections, ConfigSections];
  const recorded: RecordedChange[] = [
    ...(isDeepStrictEqual(was.agent_options, is.agent_options)
      ? []
      : [{ type: "edited_agent_options" as const, details: { global: true, ...noTeam }, of: ["agent_options"] }]),
    ...activitiesOfActivitiesWebhook(was, is),
    ...activitiesOfHostActivitiesWebhook(
      was.webhook_settings.host_activities_webhook,
      is.webhook_settings.host_activities_webhook,
      noTeam,
    ),
    ...activitiesOfMdm(was.mdm, is.mdm, noTeam),
    ...activitiesOfSwitches(was, is),
    ...activitiesOfConditionalAccess(was, is),
    ...activitiesOfHistory(was.features.historical_data, is.features.historical_data, noTeam),
  ];
  const rest = sections.flatMap((section) => {
    const [from, to] = [was, is].map((values) => shapeOf(section, values)) as [object, object];
    const computed = Object.keys(section.returned).map((path) => `${section.name}.${path}`);
    return changesBetween({
      from,
      to,
      shown: [masked(section, from), masked(section, to)],
      at: section.name,
    }).filter(({ path }) => !computed.includes(path));
  });
  const changes = uncovered(rest, recorded);
  if (changes.length > 0) {
    const names = [...new Set(changes.map(({ path }) => path.split(".")[0] as keyof AppConfig))];
    recorded.push({ type: "edited_config", details: { sections: names, changes }, of: [] });
  }
  return recorded;
}

/** The section as activities show it. Of YARA rules, the feed shows which have changed, but not their texts. */
const shapeOf = ({ name }: Section, values: ConfigSections): object =>
  name === "yara_rules"
    ? Object.fromEntries(values.yara_rules.map((rule) => [rule.name, `sha256:${sha256(rule.contents)}`]))
    : values[name as keyof ConfigSections];

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The changes that no activity covers yet. */
export const uncovered = (changes: readonly ConfigChange[], recorded: readonly RecordedChange[]): ConfigChange[] => {
  const paths = recorded.flatMap(({ of }) => of);
  return changes.filter(
    ({ path }) => !paths.some((recordedPath) => path === recordedPath || path.startsWith(`${recordedPath}.`)),
  );
};

interface Pair {
  readonly from: unknown;
  readonly to: unknown;
  /** The values with masked secrets: a changed secret is recorded, but not its value. */
  readonly shown: readonly [unknown, unknown];
  readonly at: string;
}

/** Compares field by field. Lists of the same length are compared entry by entry. */
export function changesBetween({ from, to, shown, at }: Pair): ConfigChange[] {
  if (isDeepStrictEqual(from, to)) return [];
  const keys = commonKeys(from, to);
  if (keys === null) return [{ path: at, old: short(shown[0]), new: short(shown[1]) }];
  return keys.flatMap((key) =>
    changesBetween({
      from: member(from, key),
      to: member(to, key),
      shown: [member(shown[0], key), member(shown[1], key)],
      at: `${at}.${key}`,
    }),
  );
}

/** Maps and lists with more members are recorded as a single change. */
const MAX_COMPARED = 40;

function commonKeys(from: unknown, to: unknown): string[] | null {
  if (isRecord(from) && isRecord(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return keys.length <= MAX_COMPARED ? keys : null;
  }
  const lists = Array.isArray(from) && Array.isArray(to) && from.length === to.length && to.length <= MAX_COMPARED;
  return lists && [...from, ...to].every(isRecord) ? Object.keys(to) : null;
}

const member = (value: unknown, key: string): unknown =>
  isRecord(value) || Array.isArray(value) ? (value as Record<string, unknown>)[key] : undefined;

/** The maximum length of a value in the activity feed: whole documents and long lists are of no use there. */
const MAX_VALUE_CHARS = 500;

function short(value: unknown): ConfigChange["old"] {
  if (value === undefined) return null;
  if (typeof value === "string") return cut(value);
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE_CHARS ? (value as ConfigChange["old"]) : cut(text);
}

const cut = (text: string): string =>
  text.length <= MAX_VALUE_CHARS ? text : `${text.slice(0, MAX_VALUE_CHARS).toWellFormed()}…`;
