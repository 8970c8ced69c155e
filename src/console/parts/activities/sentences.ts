// What activities of each type say, after the name of who did it. Types that are missing read well in their own words.
import { plural } from "../../../text/plural.ts";

export type Details = Readonly<Record<string, unknown>>;

/**
 * `{host}` is the host, with a link; other braces contain the name of a detail. A part in brackets is left out if a
 * detail in it is missing or empty.
 */
export type Sentence = string | ((details: Details) => string);

export const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
const count = (value: unknown): number => (Array.isArray(value) ? value.length : Number(value) || 0);
const listed = (value: unknown, singular: string, many: string): string =>
  count(value) === 1 ? `1 ${singular}` : `${count(value)} ${many}`;
const hosts = (value: unknown): string => plural(count(value), "host");

const TEAM = "[ for the team {team_name}]";
const ON_HOST = "[ on {host}]";
const BY_POLICY = "[ for the policy {policy_name}]";

/** Activities of deleted policies, and earlier ones, have only the id. */
const aboutPolicy =
  (start: string, end = ""): Sentence =>
  ({ policy_name }) =>
    `${start}${text(policy_name) === "" ? "{policy_id}" : "{policy_name}"}${end}`;

/** With a team's id in the details it is the webhook of its hosts, or of all hosts. */
const aboutActivities =
  (verb: string, end = ""): Sentence =>
  ({ team_id }) =>
    `${verb} the webhook for activities${team_id === undefined ? "" : ` of hosts${TEAM}`}${end}`;

/** `status` decides: what ended well, what failed, and what has not happened yet. */
const withStatus =
  (done: string, failed: string, requested: string): Sentence =>
  ({ status }) => {
    const state = text(status);
    return state.startsWith("failed") ? failed : state.startsWith("pending") ? requested : done;
  };
const installed = (title: string, end: string): Sentence =>
  withStatus(
    `installed ${title}${ON_HOST}${end}`,
    `failed to install ${title}${ON_HOST}${end}`,
    `requested the installation of ${title}${ON_HOST}${end}`,
  );

const minimumVersion =
  (system: string): Sentence =>
  ({ minimum_version, deadline, deadline_days: days }) =>
    typeof days === "number"
      ? `required the newest version of ${system}, ${plural(days, "day")} after it comes out${TEAM}`
      : text(minimum_version) === "" && text(deadline) === ""
        ? `removed the minimum version of ${system}${TEAM}`
        : `set the minimum version of ${system}[ to {minimum_version}][ with the deadline {deadline}]${TEAM}`;

const approval =
  (verb: string): Sentence =>
  ({ action, hosts_count, host_display_name: host }) =>
    `${verb} to ${action === "delete_hosts" ? "delete" : "erase"} ` +
    `${text(host) === "" ? hosts(hosts_count) : "{host}"}[, which {user_name} requested][: {reason}]`;

const script = (verb: string, preposition: string): Sentence => {
  const end = `[ ${preposition} {host}]${BY_POLICY}`;
  return ({ script_name: name }) => `${verb} ${text(name) === "" ? "a script" : "the script {script_name}"}${end}`;
};

const NOT_SENT = "[, which answered with status {status_code}][: {error_response}]";
const onHost = (before: string): Sentence => `${before} {host}`;

export const sentences: Readonly<Record<string, Sentence>> = {
  user_logged_in: "signed in[ from {public_ip}]",
  user_failed_login: "failed to sign in[ as {email}][ from {public_ip}]",
  user_added_by_sso: "was created by single sign-on",
  changed_user_global_role: "assigned the role {role} to {user_name}",
  deleted_user_global_role: "removed the role {role} from {user_name}",
  changed_user_team_role: "assigned the role {role} on {team_name} to {user_name}",
  deleted_user_team_role: "removed the role {role} on {team_name} from {user_name}",
  changed_user_password: ({ by }) => `changed the password${by === "link" ? " with a mailed link" : ""} of {user_name}`,
  required_user_password_reset: ({ required }) =>
    `${required === true ? "requires" : "no longer requires"} a new password for {user_name}`,
  ended_user_sessions: ({ sessions_count: ended }) => `ended ${plural(count(ended), "session")} of {user_name}`,
  created_api_token: "created the API token {token_name}[ of {user_name}]",
  deleted_api_token: "deleted the API token {token_name}[ of {user_name}]",
  created_invite: "invited {invite_email}",
  edited_invite: "changed the invitation of {invite_email}",
  deleted_invite: "withdrew the invitation of {invite_email}",

  edited_config: ({ sections }) =>
    `changed the configuration${count(sections) === 0 ? "" : `: ${(sections as unknown[]).map(text).join(", ")}`}`,
  edited_team: "changed the settings of the team {team_name}",
  edited_agent_options: `changed the agent options${TEAM}`,
  edited_enroll_secrets: `changed the enroll secrets${TEAM}`,
  created_enroll_token: `created a command that enrolls hosts${TEAM}`,
  enabled_gitops_mode: "turned on GitOps mode",
  disabled_gitops_mode: "turned off GitOps mode",
  edited_gitops_exceptions: "changed what may be changed by hand in GitOps mode",
  overrode_gitops_mode: "changed something in spite of GitOps mode ({method} {path}): {reason}",
  enabled_activity_automations: aboutActivities("turned on", "[, {webhook_url}]"),
  edited_activity_automations: aboutActivities("changed", "[ to {webhook_url}]"),
  disabled_activity_automations: aboutActivities("turned off"),
  edited_webhook_destination: "changed the webhook destination {webhook_url}",
  gave_up_webhook_delivery: "gave up sending {event} to {webhook_url}",
  replayed_webhook_delivery: "sent {event} to {webhook_url} again",
  triggered_job: "started the job {job_name}",
  canceled_task: "cancelled the task {task_kind}",
  requested_approval: approval("asked for approval"),
  granted_approval: approval("gave approval"),
  denied_approval: approval("refused approval"),

  live_query: ({ targets_count, query_name: name }) =>
    `ran ${text(name) === "" ? "a live query" : "the query {query_name}"} on ${hosts(targets_count)}`,
  deleted_multiple_saved_query: ({ query_ids: ids }) => `deleted ${count(ids)} saved queries${TEAM}`,
  reset_policy: `deleted the results of the policy {policy_name}${TEAM}`,
  applied_spec_policy: ({ policies, count: all }) => `applied ${listed(all ?? policies, "policy", "policies")}`,
  applied_spec_saved_query: ({ specs, count: all }) => `applied ${listed(all ?? specs, "query", "queries")}`,
  applied_spec_team: ({ teams }) => `applied the settings of ${plural(count(teams), "team")}`,
  applied_spec_pack: "applied packs",
  ran_automation_webhook: aboutPolicy("sent the webhook of the policy "),
  failed_automation_webhook: aboutPolicy("failed to send the webhook of the policy ", NOT_SENT),
  unsubscribed_from_policy_mails: `unsubscribed {email} from mails about failing policies${TEAM}`,
  ran_automation_ticket: aboutPolicy("opened a ticket[ {ticket_key}] for the policy "),
  failed_automation_ticket: aboutPolicy("failed to open a ticket for the policy ", NOT_SENT),
  ran_automation_calendar_event: aboutPolicy("created a calendar event for the policy "),
  failed_automation_calendar_event: aboutPolicy("failed to create a calendar event for the policy ", NOT_SENT),
  ran_automation_conditional_access: aboutPolicy("reported the policy ", " for conditional access"),
  failed_automation_conditional_access: aboutPolicy(
    "failed to report the policy ",
    ` for conditional access${NOT_SENT}`,
  ),

  svc_enrolled: onHost("enrolled the host"),
  host_enrollment_rejected: onHost("refused an enrollment[ ({reason})] of"),
  mdm_enrolled: onHost("turned device management on for"),
  mdm_unenrolled: onHost("turned device management off for"),
  transferred_hosts: ({ host_display_names: names, team_name }) =>
    `moved ${hosts(names)} ${text(team_name) === "" ? "out of their team" : "to {team_name}"}`,
  edited_host_labels: onHost("changed the labels of"),
  edited_host_idp_data: "changed the user of {host}[ to {host_idp_username}]",
  edited_custom_host_vital_value: "changed {custom_host_vital_name} of {host}",
  retrieved_host_my_device_url: onHost("retrieved the link to the device page of"),
  failed_wipe: onHost("failed to erase"),
  wiped_host: onHost("erased"),
  cleared_passcode: onHost("cleared the passcode of"),
  read_host_disk_encryption_key: onHost("read the disk encryption key of"),
  escrowed_disk_encryption_key: onHost("stored the disk encryption key of"),
  rotated_disk_encryption_key: onHost("changed the disk encryption key of"),
  applied_plan: "applied the plan {plan_id}[: {plan_name}]",
  deleted_plan: "deleted the plan {plan_id} of {created_by}[: {plan_name}]",
  viewed_host_recovery_lock_password: onHost("read the recovery lock password of"),
  set_host_recovery_lock_password: onHost("set the recovery lock password of"),
  rotated_host_recovery_lock_password: onHost("changed the recovery lock password of"),
  created_managed_local_account: onHost("created the managed account on"),
  read_managed_local_account: onHost("read the password of the managed account on"),
  rotated_managed_local_account_password: onHost("changed the password of the managed account on"),
  failed_to_rotate_managed_local_account_password:
    "failed to change the password of the managed account on {host}[: {detail}]",
  installed_certificate: installed("the certificate {certificate_name}", "[: {detail}]"),
  ran_custom_mdm_command: "sent the command {request_type} to {host}",
  canceled_mdm_command: "cancelled the command {command_type} for {host}",
  notified_end_user_before_patching: withStatus(
    "notified the user of {host} of updates",
    "failed to notify the user of {host} of updates",
    "requested a notification of the user of {host}",
  ),

  ran_script: script("ran", "on"),
  canceled_run_script: script("cancelled", "on"),
  ran_script_batch: ({ host_count }) => `ran the script {script_name} on ${hosts(host_count)}`,
  scheduled_script_batch: ({ host_count }) =>
    `scheduled the script {script_name} on ${hosts(host_count)}[ for {not_before}]`,
  canceled_script_batch: ({ canceled_count }) => `cancelled the script {script_name} on ${hosts(canceled_count)}`,
  edited_script: `changed the scripts${TEAM}`,

  installed_software: installed("software {software_title}", BY_POLICY),
  uninstalled_software: withStatus(
    `uninstalled software {software_title}${ON_HOST}`,
    `failed to uninstall software {software_title}${ON_HOST}`,
    `requested the removal of software {software_title}${ON_HOST}`,
  ),
  canceled_install_software: `cancelled the installation of {software_title}${ON_HOST}`,
  canceled_uninstall_software: `cancelled the removal of {software_title}${ON_HOST}`,
  added_app_store_app: `added the store app {software_title}${TEAM}`,
  edited_app_store_app: `edited the store app {software_title}${TEAM}`,
  deleted_app_store_app: `deleted the store app {software_title}${TEAM}`,
  installed_app_store_app: installed("the store app {software_title}", BY_POLICY),
  canceled_install_app_store_app: `cancelled the installation of the store app {software_title}${ON_HOST}`,
  canceled_setup_experience: "cancelled the setup of {host}[, because {software_title} was not installed]",
  installed_all_self_service_software:
    "requested all self-service software[ in the category {self_service_category_name}][ for {host}]",
  edited_setup_experience_software: `changed the software that hosts install during setup[ ({platform})]${TEAM}`,
  enabled_vpp: "added the token of the location {location}",
  renewed_vpp: "renewed the token of the location {location}",
  edited_vpp_teams: "changed the teams of the location {location}",
  disabled_vpp: "deleted the token of the location {location}",
  added_abm_token: "added the token of the organization {org_name}",
  renewed_abm_token: "renewed the token of the organization {org_name}",
  edited_abm_token_teams: "changed the teams of the organization {org_name}",
  deleted_abm_token: "deleted the token of the organization {org_name}",

  edited_macos_profile: `changed the macOS profiles${TEAM}`,
  edited_windows_profile: `changed the Windows profiles${TEAM}`,
  edited_android_profile: `changed the Android profiles${TEAM}`,
  edited_declaration_profile: `changed the declarations${TEAM}`,
  resent_configuration_profile: `sent the profile {profile_name} to {host} again${BY_POLICY}`,
  resent_configuration_profile_batch: ({ host_count }) =>
    `sent the profile {profile_name} to ${hosts(host_count)} again`,
  edited_macos_min_version: minimumVersion("macOS"),
  edited_ios_min_version: minimumVersion("iOS"),
  edited_ipados_min_version: minimumVersion("iPadOS"),
  edited_windows_updates: ({ deadline_days: days }) =>
    typeof days === "number"
      ? `set the deadline of Windows updates to ${plural(days, "day")}${TEAM}`
      : `removed the deadline of Windows updates${TEAM}`,
  enabled_macos_update_new_hosts: `turned on updates of new Macs${TEAM}`,
  disabled_macos_update_new_hosts: `turned off updates of new Macs${TEAM}`,
  enabled_macos_disk_encryption: `turned on disk encryption${TEAM}`,
  disabled_macos_disk_encryption: `turned off disk encryption${TEAM}`,
  enabled_macos_setup_end_user_auth: `turned on sign-in during the setup of Macs${TEAM}`,
  disabled_macos_setup_end_user_auth: `turned off sign-in during the setup of Macs${TEAM}`,
  enabled_windows_mdm: "turned on device management of Windows hosts",
  disabled_windows_mdm: "turned off device management of Windows hosts",
  enabled_windows_mdm_migration: "turned on the migration of Windows hosts to this server",
  disabled_windows_mdm_migration: "turned off the migration of Windows hosts to this server",
  enabled_android_mdm: "turned on device management of Android devices",
  disabled_android_mdm: "turned off device management of Android devices",
  added_apns_certificate: "added the push certificate for Apple devices",
  renewed_apns_certificate: "renewed the push certificate for Apple devices",
  deleted_apns_certificate: "deleted the push certificate for Apple devices",
  certificate_expires: "warned that {name} ends soon[, on {not_valid_after}]",

  added_conditional_access_integration_directory: "connected the directory for conditional access",
  deleted_conditional_access_integration_directory: "disconnected the directory for conditional access",
  added_conditional_access_provider: "set the identity provider for conditional access",
  deleted_conditional_access_provider: "removed the identity provider for conditional access",
  enabled_conditional_access_automations: `turned on conditional access${TEAM}`,
  disabled_conditional_access_automations: `turned off conditional access${TEAM}`,
  enabled_historical_dataset: "turned on the history of {dataset}[ of the team {team}]",
  disabled_historical_dataset: "turned off the history of {dataset}[ of the team {team}]",
  added_directory_graph_credentials: "added credentials of the directory[ {tenant_id}]",
  edited_directory_graph_credentials: "changed credentials of the directory[ {tenant_id}]",
  deleted_directory_graph_credentials: "deleted credentials of the directory[ {tenant_id}]",
};

/** Sentences for what has not happened yet. Other types have sentences that fit it. */
export const upcoming: typeof sentences = {
  ran_script: script("requested", "on"),
  ran_custom_mdm_command: "requested the command {request_type} for {host}",
};
