// What the details of activities say about changed objects and fields.

import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";

export type Details = { readonly [key: string]: Json };

const ACTIVITIES_WEBHOOK = "webhook_settings.activities_webhook";
const HOST_ACTIVITIES_WEBHOOK = "webhook_settings.host_activities_webhook";

/** Fields that an activity of this type covers without naming them. */
const pathOfType: Readonly<Record<string, string>> = {
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
  edited_gitops_exceptions: "gitops.exceptions",
  enabled_activity_automations: ACTIVITIES_WEBHOOK,
  edited_activity_automations: ACTIVITIES_WEBHOOK,
  disabled_activity_automations: ACTIVITIES_WEBHOOK,
  added_conditional_access_integration_directory: "conditional_access.directory_tenant_id",
  deleted_conditional_access_integration_directory: "conditional_access.directory_tenant_id",
  added_conditional_access_provider: "conditional_access",
  deleted_conditional_access_provider: "conditional_access",
  enabled_historical_dataset: "features.historical_data",
  disabled_historical_dataset: "features.historical_data",
  enabled_conditional_access_automations: "integrations.conditional_access_enabled",
  disabled_conditional_access_automations: "integrations.conditional_access_enabled",
};
/** Whether the type means a field of settings, although it may begin with `deleted_`. */
export const isOfField = (type: string): boolean => type in pathOfType;

export const anyOf = (what: string): string[] => [`created_${what}`, `edited_${what}`, `deleted_${what}`];
export const settingTypes = (section: string): string[] =>
  Object.keys(pathOfType).filter((type) => isWithin(pathOfType[type]!, section));

/** Team ids in details: absent or -1 is global, 0 means hosts without a team. */
export function isOfTeam({ team_id, team_name }: Details, owner: string | null): boolean {
  if (owner === null) return team_id === undefined || team_id === null || team_id === -1;
  return owner === NO_TEAM_NAME ? team_id === 0 : team_name === owner;
}

/** Activities of software have no team for hosts without one. */
export const isOffered = (details: Details, owner: string | null): boolean =>
  isOfTeam(details, owner) || (owner === NO_TEAM_NAME && isOfTeam(details, null));

export function namesItem(list: Json | undefined, name: string, owner: string | null): boolean {
  return (
    Array.isArray(list) && list.some((item) => isRecord(item) && item.name === name && (item.team || null) === owner)
  );
}

export const changedPaths = ({ changes }: Details): string[] =>
  Array.isArray(changes)
    ? changes.flatMap((change) => (isRecord(change) && typeof change.path === "string" ? [change.path] : []))
    : [];

/** The webhook of host activities has the types of the webhook of all activities, and details with a team. */
function pathsOf(details: Details, type: string): readonly string[] {
  const path = pathOfType[type];
  if (path === undefined) return changedPaths(details);
  return [path === ACTIVITIES_WEBHOOK && details.team_id !== undefined ? HOST_ACTIVITIES_WEBHOOK : path];
}

export function coversPath(details: Details, type: string, paths: readonly string[]): boolean {
  return pathsOf(details, type).some((changed) =>
    paths.some((path) => isWithin(changed, path) || isWithin(path, changed)),
  );
}

const isWithin = (path: string, of: string): boolean => path === of || path.startsWith(`${of}.`);
