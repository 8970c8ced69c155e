// Finds in the activity feed who changed the server after the last apply, and when.
import type { Activity } from "../../api/activities.ts";
import { isSingle } from "../../api/ca.ts";
import { NO_TEAM_NAME, type ThingKind } from "../../api/configuration.ts";
import { type Change, type FieldChange, isRecord, type Json } from "./diff.ts";

type Details = { readonly [key: string]: Json };

/** Fields that an activity of this type covers without naming them. */
const toldOf: Readonly<Record<string, string>> = {
  edited_macos_min_version: "mdm.macos_updates",
  edited_ios_min_version: "mdm.ios_updates",
  edited_ipados_min_version: "mdm.ipados_updates",
  edited_windows_updates: "mdm.windows_updates",
  enabled_macos_update_new_hosts: "mdm.macos_updates.update_new_hosts",
  disabled_macos_update_new_hosts: "mdm.macos_updates.update_new_hosts",
  enabled_macos_disk_encryption: "mdm.enable_disk_encryption",
  disabled_macos_disk_encryption: "mdm.enable_disk_encryption",
  enabled_macos_setup_end_user_auth: "mdm.macos_setup.enable_end_user_authentication",
  disabled_macos_setup_end_user_auth: "mdm.macos_setup.enable_end_user_authentication",
  enabled_windows_mdm: "mdm.windows_enabled_and_configured",
  disabled_windows_mdm: "mdm.windows_enabled_and_configured",
  enabled_windows_mdm_migration: "mdm.windows_migration_enabled",
  disabled_windows_mdm_migration: "mdm.windows_migration_enabled",
  enabled_gitops_mode: "gitops.gitops_mode_enabled",
  disabled_gitops_mode: "gitops.gitops_mode_enabled",
  enabled_activity_automations: "webhook_settings.activities_webhook",
  edited_activity_automations: "webhook_settings.activities_webhook",
  disabled_activity_automations: "webhook_settings.activities_webhook",
  added_conditional_access_integration_directory: "conditional_access.directory_tenant_id",
  deleted_conditional_access_integration_directory: "conditional_access.directory_tenant_id",
  added_conditional_access_provider: "conditional_access",
  deleted_conditional_access_provider: "conditional_access",
  enabled_conditional_access_automations: "integrations.conditional_access_enabled",
  disabled_conditional_access_automations: "integrations.conditional_access_enabled",
};
/** Whether the webhook covers a policy is stored in the settings of its team. */
const WEBHOOK_OF_POLICIES = "webhook_settings.failing_policies_webhook.policy_ids";

/** The types of activities that can explain one of the changes. */
export const typesFor = (changes: readonly Change[]): string[] => [...new Set(changes.flatMap(typesOf))].sort();

function typesOf(change: Change): string[] {
  const { kind, name } = change;
  if (kind === "config") return ["edited_config", ...settingTypes(name)];
  if (kind === "team_settings") return ["edited_team", ...["mdm", "integrations"].flatMap(settingTypes)];
  if (kind === "team") return anyOf("team");
  if (kind === "agent_options" || kind === "enroll_secrets") return [`edited_${kind}`];
  if (kind === "policy") return [...anyOf("policy"), "applied_spec_policy", "edited_config", "edited_team"];
  if (kind === "query") return [...anyOf("saved_query"), "applied_spec_saved_query"];
  if (kind === "certificate_authority")
    return anyOf(name.split("/")[0]!).map((type) => type.replace("created_", "added_"));
  return [...anyOf(kind), "edited_host_labels"];
}

const anyOf = (what: string): string[] => [`created_${what}`, `edited_${what}`, `deleted_${what}`];
const settingTypes = (section: string): string[] =>
  Object.keys(toldOf).filter((type) => isWithin(toldOf[type]!, section));

/** Whether the activity explains the object's current state. */
export function tellsOf({ type, details }: Pick<Activity, "type" | "details">, change: Change): boolean {
  const told = (details ?? {}) as Details;
  const { kind, action } = change;
  if (!typesOf(change).includes(type)) return false;
  // A missing object was deleted; an existing one was not.
  const isDeletion = type.startsWith("deleted_") && !(type in toldOf);
  if (kind !== "config" && kind !== "team_settings" && isDeletion !== (action === "create")) return false;
  return matchers[kind](told, type, change);
}

type Matcher = (told: Details, type: string, change: Change) => boolean;

const matchers: Readonly<Record<ThingKind, Matcher>> = {
  config: (told, type, { name, fields }) => {
    const paths = fields.map(({ path }) => (path === "" ? name : `${name}.${path}`));
    return isOfTeam(told, null) && tellsPath(told, type, paths);
  },
  team_settings: (told, type, { owner, fields }) =>
    isOfTeam(told, owner) &&
    tellsPath(
      told,
      type,
      fields.map(({ path }) => path),
    ),
  agent_options: (told, _, { owner }) => isOfTeam(told, owner),
  enroll_secrets: (told, _, { owner }) => isOfTeam(told, owner),
  team: (told, type, { name }) =>
    told.team_name === name && (type !== "edited_team" || changedPaths(told).includes("description")),
  label: (told, type, { name, fields }) =>
    type === "edited_host_labels"
      ? fields.some(({ path }) => path === "hosts") &&
        [told.added, told.removed].some((names) => Array.isArray(names) && names.includes(name))
      : told.label_name === name,
  policy: (told, type, { name, owner, fields }) => {
    if (type === "edited_config" || type === "edited_team")
      return (
        (type === "edited_team" ? told.team_name === owner : owner === null) &&
        fields.some(({ path }) => path === "webhooks_and_tickets_enabled") &&
        tellsPath(told, type, [WEBHOOK_OF_POLICIES])
      );
    if (type === "applied_spec_policy") return namesItem(told.policies, name, owner);
    return told.policy_name === name && isOfTeam(told, owner);
  },
  query: (told, type, { name, owner }) =>
    type === "applied_spec_saved_query"
      ? namesItem(told.specs, name, owner)
      : told.query_name === name && isOfTeam(told, owner),
  certificate_authority: (told, _, { name }) => {
    const [type, own] = name.split("/") as [Parameters<typeof isSingle>[0], string];
    return isSingle(type) || told.name === own;
  },
};

/** Team ids in details: absent or -1 is global, 0 means hosts without a team. */
function isOfTeam({ team_id, team_name }: Details, owner: string | null): boolean {
  if (owner === null) return team_id === undefined || team_id === null || team_id === -1;
  return owner === NO_TEAM_NAME ? team_id === 0 : team_name === owner;
}

function namesItem(list: Json | undefined, name: string, owner: string | null): boolean {
  return Array.isArray(list) && list.some((one) => isRecord(one) && one.name === name && (one.team || null) === owner);
}

const changedPaths = ({ changes }: Details): string[] =>
  Array.isArray(changes)
    ? changes.flatMap((one) => (isRecord(one) && typeof one.path === "string" ? [one.path] : []))
    : [];

function tellsPath(told: Details, type: string, paths: readonly string[]): boolean {
  const of = toldOf[type] === undefined ? changedPaths(told) : [toldOf[type]];
  return of.some((one) => paths.some((path) => isWithin(one, path) || isWithin(path, one)));
}

const isWithin = (path: string, of: string): boolean => path === of || path.startsWith(`${of}.`);

/** The newest activity that explains each change; activities come newest first. */
export function attribute(changes: readonly Change[], activities: readonly Activity[]): (Activity | null)[] {
  return changes.map((change) => activities.find((activity) => tellsOf(activity, change)) ?? null);
}

/** The reversed plan: from the files to the server. What the plan would add is missing on the server. */
export function asDrift(change: Change): Change {
  const action = ({ create: "delete", update: "update", delete: "create" } as const)[change.action];
  const fields = change.fields.map(
    ({ old, new: wanted, ...field }): FieldChange => ({
      ...field,
      ...(wanted === undefined ? {} : { old: wanted }),
      ...(old === undefined ? {} : { new: old }),
    }),
  );
  return { ...change, action, value: null, fields };
}
