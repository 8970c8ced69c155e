// Accounts, sign-ins, roles, invitations, approvals and the identity provider.
import type { HostDetails } from "./details.ts";

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

interface UserDetails {
  user_id: number;
  user_name: string;
  user_email: string;
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

export interface AccountActivities {
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
  created_invite: InviteDetails;
  edited_invite: InviteDetails;
  deleted_invite: InviteDetails;
  changed_user_global_role: UserDetails & { role: string };
  deleted_user_global_role: UserDetails & { role: string };
  changed_user_team_role: UserDetails & { role: string; team_id: number; team_name: string };
  deleted_user_team_role: UserDetails & { role: string; team_id: number; team_name: string };
  /** An upload of another user. */
  deleted_upload: { upload_id: number; upload_name: string; upload_size: number; user_id: number; user_name: string };
  /** An action that another user has to approve; not among the documented types. */
  requested_approval: ApprovalDetails;
  granted_approval: ApprovalDetails & UserDetails;
  denied_approval: ApprovalDetails & UserDetails & { reason: string };
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
}
