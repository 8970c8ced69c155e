// The activity types with their details.
import type { z } from "zod";
import type { CaType } from "../../../api/certificates/ca.ts";
import type { PolicySpec } from "../../../api/checks/policies.ts";
import type { QuerySpec } from "../../../api/checks/queries.ts";
import type { GitopsExceptions } from "../../../api/settings/app-config.ts";

interface TeamDetails {
  team_id: number | null;
  team_name: string | null;
}
interface UpdateDetails extends TeamDetails {
  minimum_version: string;
  /** Empty: the minimum version was removed. */
  deadline: string;
  /** Days after the newest version has come out. */
  deadline_days?: number;
}
interface ShownLabel {
  id?: number;
  name: string;
}
interface SoftwareDetails extends TeamDetails {
  software_title: string;
  self_service: boolean;
  labels_include_all?: ShownLabel[];
  labels_include_any?: ShownLabel[];
  labels_exclude_any?: ShownLabel[];
}
interface PlanDetails {
  plan_id: number;
  plan_name: string;
  created_by: string;
  changes: { create: number; update: number; delete: number };
}
interface ViewDetails extends TeamDetails {
  view_id: number;
  view_name: string;
  page: string;
}
type Nothing = Record<string, never>;

/** One changed field of a configuration section. Secrets are masked and long texts truncated. */
export interface ConfigChange {
  path: string;
  old: z.core.util.JSONType;
  new: z.core.util.JSONType;
}
interface BatchDetails {
  script_name: string;
  batch_execution_id: string;
  host_count: number;
}

interface ScimUserDetails {
  scim_user_id: number;
  user_name: string;
}
interface ScimGroupDetails {
  scim_group_id: number;
  display_name: string;
}

interface DirectoryDetails {
  tenant_id: string;
}

interface HostDetails {
  host_id: number;
  host_display_name: string;
}
/** The token of an organization in the business portal. */
interface AbmTokenDetails {
  abm_token_id: number;
  org_name: string;
}
interface StoreAppDetails extends TeamDetails {
  software_title: string;
  software_title_id: number;
  app_store_id: string;
  platform: "darwin" | "ios" | "ipados" | "android";
  self_service: boolean;
  labels_include_any?: ShownLabel[];
  labels_include_all?: ShownLabel[];
  labels_exclude_any?: ShownLabel[];
  /** For Android, the JSON object itself. */
  configuration?: { plist: string } | Readonly<Record<string, unknown>>;
}
/** The token of a location whose licenses the organization has bought. */
interface LocationDetails {
  location: string;
}
interface UserDetails {
  user_id: number;
  user_name: string;
  user_email: string;
}

interface LabelDetails {
  label_id: number;
  label_name: string;
}

interface VariableDetails {
  custom_variable_id: number;
  custom_variable_name: string;
}

interface InviteDetails {
  invite_id: number;
  invite_email: string;
}

/** The inherited user fields identify the requester. */
interface ApprovalDetails {
  approval_id: number;
  action: "delete_hosts" | "wipe_host" | "wipe_hosts";
  hosts_count: number;
  /** Set if exactly one host is concerned. */
  host_id?: number;
  host_display_name?: string;
}

/** The team of a query: -1 without a name stands for global. */
interface QueryTeam {
  team_id: number;
  team_name?: string;
}

/** The team of a policy: -1 stands for global, 0 for hosts without a team, both without a name. */
interface PolicyDetails {
  policy_id: number;
  policy_name: string;
  team_id: number;
  team_name?: string;
}

/** The policy whose automation ran. Without the name if it was deleted meanwhile. */
interface AutomationDetails {
  policy_id: number;
  policy_name?: string;
}

type CaActivities = Record<
  `${"added" | "edited" | "deleted"}_${Exclude<CaType, "directory_scep_proxy">}`,
  { name: string }
> &
  Record<`${"added" | "edited" | "deleted"}_directory_scep_proxy`, Record<string, never>>;

/** Certificate templates; not among the documented types. */
type TemplateDetails = TeamDetails & { certificate_template_id: number; certificate_name: string };

export interface ActivityTypes extends CaActivities {
  created_certificate_template: TemplateDetails;
  edited_certificate_template: TemplateDetails;
  deleted_certificate_template: TemplateDetails;
  installed_certificate: HostDetails & {
    certificate_template_id: number;
    certificate_name: string;
    status: "installed" | "failed_install";
    detail?: string;
  };
  created_label: LabelDetails;
  edited_label: LabelDetails;
  deleted_label: LabelDetails;
  /** Labels assigned to or removed from a host manually. */
  edited_host_labels: HostDetails & { added: readonly string[]; removed: readonly string[] };
  /** Views of lists that are shared with a team (null: with everyone). */
  created_view: ViewDetails;
  edited_view: ViewDetails;
  deleted_view: ViewDetails;
  created_policy: PolicyDetails;
  edited_policy: PolicyDetails;
  deleted_policy: PolicyDetails;
  /** `count`: the total, if the list is truncated. */
  applied_spec_policy: { policies: readonly PolicySpec[]; count?: number };
  created_saved_query: QueryTeam & { query_id: number; query_name: string };
  edited_saved_query: QueryTeam & { query_id: number; query_name: string };
  deleted_saved_query: QueryTeam & { query_name: string };
  deleted_multiple_saved_query: QueryTeam & { query_ids: readonly number[] };
  applied_spec_saved_query: { specs: readonly (QuerySpec | Pick<QuerySpec, "name" | "team">)[]; count?: number };
  created_pack: { pack_id: number; pack_name: string };
  edited_pack: { pack_id: number; pack_name: string };
  deleted_pack: { pack_name: string };
  applied_spec_pack: Record<string, never>;
  applied_spec_team: { teams: readonly { id: number; name: string }[] };
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
  notified_end_user_before_patching: HostDetails & {
    patch_notification_uuid: string;
    software_titles: readonly string[];
    policy_ids: readonly number[];
    /** Seconds between the message and the installation. */
    time_before: number;
    install_at: string | null;
    status: "notified" | "failed";
    script_execution_id: string;
    exit_code: number | null;
  };
  resent_configuration_profile_batch: { profile_name: string; host_count: number };
  created_team: { team_id: number; team_name: string };
  deleted_team: { team_id: number; team_name: string };
  edited_agent_options: TeamDetails & { global: boolean };
  /** Changes of the configuration that no other type covers; not among the documented types. */
  edited_config: { sections: readonly string[]; changes: readonly ConfigChange[] };
  /** A change of a team's settings, with the changed fields. */
  edited_team: { team_id: number; team_name: string; changes: readonly ConfigChange[] };
  enabled_activity_automations: { webhook_url: string };
  edited_activity_automations: { webhook_url: string };
  disabled_activity_automations: Nothing;
  edited_macos_min_version: UpdateDetails;
  /** The team's id is 0, and its name empty, for hosts without a team. */
  edited_setup_experience_software: { platform: string; team_id: number; team_name: string };
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
  enabled_gitops_mode: Nothing;
  disabled_gitops_mode: Nothing;
  /** What people may change by hand in GitOps mode; not among the documented types. */
  edited_gitops_exceptions: GitopsExceptions;
  added_conditional_access_integration_directory: Nothing;
  deleted_conditional_access_integration_directory: Nothing;
  added_conditional_access_provider: Nothing;
  deleted_conditional_access_provider: Nothing;
  /** An empty name stands for no team. */
  enabled_conditional_access_automations: { team_id: number | null; team_name: string };
  disabled_conditional_access_automations: { team_id: number | null; team_name: string };
  edited_enroll_secrets: TeamDetails;
  created_enroll_token: TeamDetails & { expires_at: string };
  user_added_by_sso: Record<string, never>;
  user_logged_in: { public_ip: string };
  user_failed_login: { email: string; public_ip: string };
  created_user: UserDetails;
  deleted_user: UserDetails;
  /** Names of the changed account fields. Roles and passwords have types of their own. */
  edited_user: UserDetails & { changed: readonly string[]; old_email?: string };
  /** Who changed it: the user, a user who manages accounts, or the holder of a mailed link. */
  changed_user_password: UserDetails & { by: "user" | "manager" | "link" };
  /** False: the requirement was withdrawn. */
  required_user_password_reset: UserDetails & { required: boolean };
  /** The number of sessions and tokens ended on request. */
  ended_user_sessions: UserDetails & { sessions_count: number };
  created_api_token: UserDetails & { token_id: number; token_name: string };
  deleted_api_token: UserDetails & { token_id: number; token_name: string };
  created_custom_variable: VariableDetails;
  edited_custom_variable: VariableDetails;
  deleted_custom_variable: VariableDetails;
  edited_custom_host_vital_value: HostDetails & { custom_host_vital_id: number; custom_host_vital_name: string };
  created_invite: InviteDetails;
  edited_invite: InviteDetails;
  deleted_invite: InviteDetails;
  changed_user_global_role: UserDetails & { role: string };
  deleted_user_global_role: UserDetails & { role: string };
  changed_user_team_role: UserDetails & { role: string; team_id: number; team_name: string };
  deleted_user_team_role: UserDetails & { role: string; team_id: number; team_name: string };
  added_abm_token: AbmTokenDetails;
  renewed_abm_token: AbmTokenDetails;
  edited_abm_token_teams: AbmTokenDetails;
  deleted_abm_token: AbmTokenDetails;
  added_app_store_app: StoreAppDetails;
  edited_app_store_app: StoreAppDetails & { software_icon_url: string | null; software_display_name: string };
  deleted_app_store_app: Omit<StoreAppDetails, "software_title_id" | "self_service" | "configuration"> & {
    software_icon_url: string | null;
  };
  installed_app_store_app: HostDetails & {
    software_title: string;
    app_store_id: string;
    command_uuid: string;
    status?: string;
    self_service: boolean;
    policy_id: number | null;
    policy_name: string | null;
  };
  installed_software: HostDetails & {
    software_title: string;
    software_package: string;
    self_service: boolean;
    install_uuid: string;
    status: string;
    source?: string;
    policy_id: number | null;
    policy_name: string | null;
  };
  uninstalled_software: HostDetails & {
    software_title: string;
    script_execution_id: string;
    self_service: boolean;
    status: string;
    source?: string;
  };
  installed_all_self_service_software: HostDetails & {
    self_service_category_id: number | null;
    self_service_category_name: string | null;
    software_titles_count: number;
  };
  canceled_install_software: HostDetails & { software_title: string; software_title_id: number };
  /** Null: the title was deleted meanwhile. */
  canceled_setup_experience: HostDetails & { software_title: string; software_title_id: number | null };
  canceled_uninstall_software: HostDetails & { software_title: string; software_title_id: number };
  canceled_install_app_store_app: HostDetails & { software_title: string; software_title_id: number };
  enabled_vpp: LocationDetails;
  renewed_vpp: LocationDetails;
  edited_vpp_teams: LocationDetails;
  disabled_vpp: LocationDetails;
  released_host: HostDetails & { host_serial: string };
  added_bootstrap_package: TeamDetails & { bootstrap_package_name: string };
  deleted_bootstrap_package: TeamDetails & { bootstrap_package_name: string };
  /** Receivers of webhooks may not know these two types. */
  added_eula: { name: string };
  deleted_eula: { name: string };
  changed_macos_setup_assistant: TeamDetails & { name: string };
  deleted_macos_setup_assistant: TeamDetails & { name: string };
  locked_host: HostDetails & { view_pin: boolean; reason?: string };
  unlocked_host: HostDetails & { host_platform: string; reason?: string };
  wiped_host: HostDetails & { host_platform: string; reason?: string };
  failed_wipe: HostDetails & { host_platform: string };
  cleared_passcode: HostDetails;
  viewed_host_recovery_lock_password: HostDetails;
  retrieved_host_my_device_url: HostDetails;
  set_host_recovery_lock_password: HostDetails;
  rotated_host_recovery_lock_password: HostDetails;
  rotated_disk_encryption_key: HostDetails;
  created_managed_local_account: HostDetails;
  read_managed_local_account: HostDetails;
  rotated_managed_local_account_password: HostDetails;
  failed_to_rotate_managed_local_account_password: HostDetails & { detail: string };
  canceled_run_script: HostDetails & { script_name: string };
  ran_script_batch: BatchDetails & { team_id: number | null };
  scheduled_script_batch: BatchDetails & { team_id: number | null; not_before: string | null };
  canceled_script_batch: BatchDetails & { canceled_count: number };
  ran_script: HostDetails & {
    script_execution_id: string;
    /** Null: not of a batch. */
    batch_execution_id: string | null;
    script_name: string;
    async: boolean;
    policy_id: number | null;
    policy_name: string | null;
  };
  added_software: SoftwareDetails & { software_package: string; software_title_id: number };
  edited_software: SoftwareDetails & {
    software_package: string | null;
    software_title_id: number;
    software_icon_url: string | null;
    software_display_name: string;
  };
  deleted_software: SoftwareDetails & { software_package: string; software_icon_url: string | null };
  added_script: TeamDetails & { script_name: string };
  updated_script: TeamDetails & { script_name: string };
  edited_script: TeamDetails;
  deleted_script: TeamDetails & { script_name: string };
  /** An upload of another user. */
  deleted_upload: { upload_id: number; upload_name: string; upload_size: number; user_id: number; user_name: string };
  escrowed_disk_encryption_key: HostDetails;
  read_host_disk_encryption_key: HostDetails;
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
  svc_enrolled: { host_id: number; host_serial: string; host_display_name: string };
  /** Refused by enrollment/rule.ts. At most one per day for each host, reason and agent. */
  host_enrollment_rejected: HostDetails & {
    host_serial: string;
    host_uuid: string;
    platform: string;
    enrollment_plane: "query_engine" | "managed_agent" | "apple_device" | "windows_device" | "android_device";
    reason: string;
  };
  transferred_hosts: TeamDetails & { host_ids: readonly number[]; host_display_names: readonly string[] };
  deleted_host: {
    host_id: number;
    host_display_name: string;
    host_serial: string;
    triggered_by: "manual" | "expiration";
    host_expiry_window?: number;
  };
  /** An action that another user has to approve; not among the documented types. */
  requested_approval: ApprovalDetails;
  granted_approval: ApprovalDetails & UserDetails;
  canceled_task: { task_id: number; task_kind: string };
  denied_approval: ApprovalDetails & UserDetails & { reason: string };
  live_query: { targets_count: number; query_sql: string; query_name?: string; stats?: Record<string, unknown> };
  /** The push certificate: device management of Apple devices was turned on, stayed on, or was turned off. */
  added_apns_certificate: { topic: string; not_valid_after: string; serial_number: string };
  renewed_apns_certificate: { topic: string; not_valid_after: string; serial_number: string };
  deleted_apns_certificate: { topic: string; serial_number: string };
  /** A certificate of device management ends within 30 days. */
  certificate_expires: { name: string; not_valid_after: string };
  /** People and groups of the identity provider; not among the documented types. */
  created_scim_user: ScimUserDetails;
  edited_scim_user: ScimUserDetails;
  deleted_scim_user: ScimUserDetails;
  created_scim_group: ScimGroupDetails;
  edited_scim_group: ScimGroupDetails;
  deleted_scim_group: ScimGroupDetails;
  /** Credentials for the organization's directory; not among the documented types. */
  added_directory_graph_credentials: DirectoryDetails;
  edited_directory_graph_credentials: DirectoryDetails;
  deleted_directory_graph_credentials: DirectoryDetails;
  /** The account of the person who uses a host. Empty: it was removed. */
  edited_host_idp_data: HostDetails & { host_idp_username: string };
  /** A person changed what configuration files determine, although GitOps mode is on. */
  overrode_gitops_mode: { method: string; path: string; reason: string };
  /** A recipient of mails about failing policies used the link in one of them. `team_id` null: global policies. */
  unsubscribed_from_policy_mails: { email: string; team_id: number | null; team_name: string | null };
  /** All changes of a stored plan were made. The changes themselves have their own activities. */
  applied_plan: PlanDetails;
  /** A plan of another user. */
  deleted_plan: PlanDetails;
  /** A scheduled job was started manually. */
  triggered_job: { job_name: string };
  ran_automation_webhook: AutomationDetails & { status_code?: number };
  failed_automation_webhook: AutomationDetails & { status_code?: number; error_response: string };
  ran_automation_ticket: AutomationDetails & {
    type: "ticketing_a" | "ticketing_b";
    ticket_key?: string;
    ticket_id?: string;
  };
  failed_automation_ticket: AutomationDetails & { type: "ticketing_a" | "ticketing_b"; error_response: string };
  ran_automation_calendar_event: AutomationDetails & { status_code?: number };
  failed_automation_calendar_event: AutomationDetails & { status_code?: number; error_response: string };
  ran_automation_conditional_access: AutomationDetails & { status_code?: number };
  failed_automation_conditional_access: AutomationDetails & { status_code?: number; error_response: string };
  // Not among the documented types.
  edited_webhook_destination: { webhook_url: string; secret_rotated: boolean };
  gave_up_webhook_delivery: { delivery_id: number; event: string; webhook_url: string };
  replayed_webhook_delivery: { delivery_id: number; event: string; webhook_url: string };
}
