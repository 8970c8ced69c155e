// The activity feed's types and what their details hold.

interface TeamDetails {
  team_id: number | null;
  team_name: string | null;
}
interface UserDetails {
  user_id: number;
  user_name: string;
  user_email: string;
}

export interface ActivityTypes {
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
  svc_enrolled: { host_id: number; host_serial: string; host_display_name: string };
  deleted_host: {
    host_id: number;
    host_display_name: string;
    host_serial: string;
    triggered_by: "manual" | "expiration";
    host_expiry_window?: number;
  };
}
