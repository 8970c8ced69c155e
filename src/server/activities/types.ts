// The activity feed's types and what their details hold.
import type { PolicySpec } from "../../api/policies.ts";
import type { QuerySpec } from "../../api/queries.ts";

interface TeamDetails {
  team_id: number | null;
  team_name: string | null;
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

export interface ActivityTypes {
  created_policy: PolicyDetails;
  edited_policy: PolicyDetails;
  deleted_policy: PolicyDetails;
  applied_spec_policy: { policies: readonly PolicySpec[] };
  created_saved_query: QueryTeam & { query_id: number; query_name: string };
  edited_saved_query: QueryTeam & { query_id: number; query_name: string };
  deleted_saved_query: QueryTeam & { query_name: string };
  deleted_multiple_saved_query: QueryTeam & { query_ids: readonly number[] };
  applied_spec_saved_query: { specs: readonly QuerySpec[] };
  created_pack: { pack_id: number; pack_name: string };
  edited_pack: { pack_id: number; pack_name: string };
  deleted_pack: { pack_name: string };
  applied_spec_pack: Record<string, never>;
  created_team: { team_id: number; team_name: string };
  deleted_team: { team_id: number; team_name: string };
  edited_agent_options: TeamDetails & { global: boolean };
  edited_enroll_secrets: TeamDetails;
  user_logged_in: { public_ip: string };
  user_failed_login: { email: string; public_ip: string };
  created_user: UserDetails;
  deleted_user: UserDetails;
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
  live_query: { targets_count: number; query_sql: string; query_name?: string; stats?: Record<string, unknown> };
}
