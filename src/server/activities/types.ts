// The activity feed's types and what their details hold.
import type { z } from "zod";
import type { CaType } from "../../api/certificate-authorities.ts";
import type { PolicySpec } from "../../api/policies.ts";
import type { QuerySpec } from "../../api/queries.ts";

interface TeamDetails {
  team_id: number | null;
  team_name: string | null;
}
interface UpdateDetails extends TeamDetails {
  minimum_version: string;
  /** Empty: removed. */
  deadline: string;
}
type Nothing = Record<string, never>;

/** A field of a section; secrets are masks, and long texts are cut. */
export interface ConfigChange {
  path: string;
  old: z.core.util.JSONType;
  new: z.core.util.JSONType;
}
interface HostDetails {
  host_id: number;
  host_display_name: string;
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

interface InviteDetails {
  invite_id: number;
  invite_email: string;
}

/** The user's fields beside these are of who asked. */
interface ApprovalDetails {
  approval_id: number;
  action: "delete_hosts" | "wipe_host";
  hosts_count: number;
  /** Where it is one. */
  host_id?: number;
  host_display_name?: string;
}

/** Of queries: -1, without a name, is global. */
interface QueryTeam {
  team_id: number;
  team_name?: string;
}

/** Of policies: -1 is global, 0 hosts without a team, both without a name. */
interface PolicyDetails {
  policy_id: number;
  policy_name: string;
  team_id: number;
  team_name?: string;
}

type CaActivities = Record<
  `${"added" | "edited" | "deleted"}_${Exclude<CaType, "directory_scep_proxy">}`,
  { name: string }
> &
  Record<`${"added" | "edited" | "deleted"}_directory_scep_proxy`, Record<string, never>>;

/** Of certificate templates; beyond the documented types, as each change is to be told of. */
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
  /** Put into manual labels by hand, or out of them. */
  edited_host_labels: HostDetails & { added: readonly string[]; removed: readonly string[] };
  created_policy: PolicyDetails;
  edited_policy: PolicyDetails;
  deleted_policy: PolicyDetails;
  /** `count`: of how many, where these are not all. */
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
  created_team: { team_id: number; team_name: string };
  deleted_team: { team_id: number; team_name: string };
  edited_agent_options: TeamDetails & { global: boolean };
  /** Of the configuration, what no other type tells of. Beyond the documented types, as each change is to be told of. */
  edited_config: { sections: readonly string[]; changes: readonly ConfigChange[] };
  /** The same of a team's settings. */
  edited_team: { team_id: number; team_name: string; changes: readonly ConfigChange[] };
  enabled_activity_automations: { webhook_url: string };
  edited_activity_automations: { webhook_url: string };
  disabled_activity_automations: Nothing;
  edited_macos_min_version: UpdateDetails;
  edited_ios_min_version: UpdateDetails;
  edited_ipados_min_version: UpdateDetails;
  /** Null: removed. */
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
  enabled_gitops_mode: Nothing;
  disabled_gitops_mode: Nothing;
  added_conditional_access_integration_directory: Nothing;
  deleted_conditional_access_integration_directory: Nothing;
  added_conditional_access_provider: Nothing;
  deleted_conditional_access_provider: Nothing;
  /** An empty name is no team. */
  enabled_conditional_access_automations: { team_id: number | null; team_name: string };
  disabled_conditional_access_automations: { team_id: number | null; team_name: string };
  edited_enroll_secrets: TeamDetails;
  user_added_by_sso: Record<string, never>;
  user_logged_in: { public_ip: string };
  user_failed_login: { email: string; public_ip: string };
  created_user: UserDetails;
  deleted_user: UserDetails;
  /** What of an account is another than before: names of its fields. Roles and passwords are told of by types of their own. */
  edited_user: UserDetails & { changed: readonly string[]; old_email?: string };
  /** By whom: the user, somebody who manages it, or whoever had the mailed link. */
  changed_user_password: UserDetails & { by: "user" | "manager" | "link" };
  /** False: no reset is asked for any more. */
  required_user_password_reset: UserDetails & { required: boolean };
  /** How many sessions and tokens ended, on somebody's demand. */
  ended_user_sessions: UserDetails & { sessions_count: number };
  created_api_token: UserDetails & { token_id: number; token_name: string };
  deleted_api_token: UserDetails & { token_id: number; token_name: string };
  created_invite: InviteDetails;
  edited_invite: InviteDetails;
  deleted_invite: InviteDetails;
  changed_user_global_role: UserDetails & { role: string };
  deleted_user_global_role: UserDetails & { role: string };
  changed_user_team_role: UserDetails & { role: string; team_id: number; team_name: string };
  deleted_user_team_role: UserDetails & { role: string; team_id: number; team_name: string };
  locked_host: HostDetails & { view_pin: boolean };
  unlocked_host: HostDetails & { host_platform: string };
  wiped_host: HostDetails & { host_platform: string };
  failed_wipe: HostDetails & { host_platform: string };
  canceled_run_script: HostDetails & { script_name: string };
  escrowed_disk_encryption_key: HostDetails;
  read_host_disk_encryption_key: HostDetails;
  mdm_unenrolled: {
    host_serial: string;
    host_display_name: string;
    installed_from_dep: boolean;
    platform: string;
  };
  svc_enrolled: { host_id: number; host_serial: string; host_display_name: string };
  transferred_hosts: TeamDetails & { host_ids: readonly number[]; host_display_names: readonly string[] };
  deleted_host: {
    host_id: number;
    host_display_name: string;
    host_serial: string;
    triggered_by: "manual" | "expiration";
    host_expiry_window?: number;
  };
  /** What another user has to approve: beyond the documented types, as each step is to be told of. */
  requested_approval: ApprovalDetails;
  granted_approval: ApprovalDetails & UserDetails;
  denied_approval: ApprovalDetails & UserDetails & { reason: string };
  live_query: { targets_count: number; query_sql: string; query_name?: string; stats?: Record<string, unknown> };
  /** Of a job that runs by itself: somebody had it run. */
  triggered_job: { job_name: string };
  ran_automation_webhook: { policy_id: number; status_code?: number };
  failed_automation_webhook: { policy_id: number; status_code?: number; error_response: string };
  ran_automation_ticket: {
    policy_id: number;
    type: "ticketing_a" | "ticketing_b";
    ticket_key?: string;
    ticket_id?: string;
  };
  failed_automation_ticket: { policy_id: number; type: "ticketing_a" | "ticketing_b"; error_response: string };
  // Beyond the list of the reference.
  edited_webhook_destination: { webhook_url: string; secret_rotated: boolean };
  gave_up_webhook_delivery: { delivery_id: number; event: string; webhook_url: string };
  replayed_webhook_delivery: { delivery_id: number; event: string; webhook_url: string };
}
