// Device management: profiles, commands, updates, enrollment and setup.
import type { HostDetails, Nothing, TeamDetails } from "./details.ts";

interface UpdateDetails extends TeamDetails {
  minimum_version: string;
  /** Empty: the minimum version was removed. */
  deadline: string;
  /** Days after the newest version has come out. */
  deadline_days?: number;
}

/** The token of an organization in the business portal. */
interface AbmTokenDetails {
  abm_token_id: number;
  org_name: string;
}

export interface DeviceActivities {
  ran_custom_mdm_command: HostDetails & {
    host_uuid: string;
    command_uuid: string;
    request_type: string;
    platform: string;
  };
  canceled_mdm_command: HostDetails & { command_type: string };
  created_macos_profile: TeamDetails & { profile_name: string; profile_identifier: string };
  deleted_macos_profile: TeamDetails & { profile_name: string; profile_identifier: string };
  edited_macos_profile: TeamDetails;
  created_windows_profile: TeamDetails & { profile_name: string };
  deleted_windows_profile: TeamDetails & { profile_name: string };
  edited_windows_profile: TeamDetails;
  created_android_profile: TeamDetails & { profile_name: string };
  deleted_android_profile: TeamDetails & { profile_name: string };
  edited_android_profile: TeamDetails;
  created_declaration_profile: TeamDetails & { profile_name: string; identifier: string };
  deleted_declaration_profile: TeamDetails & { profile_name: string; identifier: string };
  edited_declaration_profile: TeamDetails;
  /** The policy that failed, if it asked for it. */
  resent_configuration_profile: HostDetails & {
    profile_name: string;
    profile_uuid?: string;
    policy_id?: number;
    policy_name?: string;
  };
  resent_configuration_profile_batch: { profile_name: string; host_count: number };
  edited_macos_min_version: UpdateDetails;
  edited_ios_min_version: UpdateDetails;
  edited_ipados_min_version: UpdateDetails;
  /** Null: the setting was removed. */
  edited_windows_updates: TeamDetails & { deadline_days: number | null; grace_period_days: number | null };
  enabled_macos_update_new_hosts: TeamDetails;
  disabled_macos_update_new_hosts: TeamDetails;
  enabled_macos_disk_encryption: TeamDetails;
  disabled_macos_disk_encryption: TeamDetails;
  enabled_macos_setup_end_user_auth: TeamDetails;
  disabled_macos_setup_end_user_auth: TeamDetails;
  enabled_windows_mdm: Nothing;
  disabled_windows_mdm: Nothing;
  enabled_windows_mdm_migration: Nothing;
  disabled_windows_mdm_migration: Nothing;
  enabled_android_mdm: Nothing;
  disabled_android_mdm: Nothing;
  added_abm_token: AbmTokenDetails;
  renewed_abm_token: AbmTokenDetails;
  edited_abm_token_teams: AbmTokenDetails;
  deleted_abm_token: AbmTokenDetails;
  released_host: HostDetails & { host_serial: string };
  added_bootstrap_package: TeamDetails & { bootstrap_package_name: string };
  deleted_bootstrap_package: TeamDetails & { bootstrap_package_name: string };
  /** Receivers of webhooks may not know these two types. */
  added_eula: { name: string };
  deleted_eula: { name: string };
  changed_macos_setup_assistant: TeamDetails & { name: string };
  deleted_macos_setup_assistant: TeamDetails & { name: string };
  mdm_enrolled: {
    host_serial: string;
    host_display_name: string;
    installed_from_dep: boolean;
    mdm_platform: "vendora" | "microsoft" | "android";
    /** Id of the enrollment of a personal device; otherwise null. */
    enrollment_id: string | null;
    platform: string;
  };
  mdm_unenrolled: {
    host_serial: string;
    enrollment_id: string | null;
    host_display_name: string;
    installed_from_dep: boolean;
    platform: string;
  };
}
