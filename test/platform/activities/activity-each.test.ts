// Every endpoint that changes something, called once with success: the number and types of the activities that it
// records. An endpoint that is neither called here nor listed below fails.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allEndpoints } from "../../../src/api/all.ts";
import { createSession } from "../../../src/server/accounts/sessions/service.ts";
import { eq, gt } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeHost, makeUser } from "../../support/make.ts";

/** Requests that change nothing: queries, replies and files. Live queries are recorded when they end. */
const changesNothing = [
  "POST /autofill/policy",
  "POST /device/:token/sso",
  "POST /hosts/:id/query",
  "POST /hosts/identifier/:identifier/query",
  "POST /hosts/search",
  "POST /labels/preview",
  "POST /queries/:id/run",
  "POST /queries/live",
  "POST /queries/live/:id/cancel",
  "POST /queries/run",
  "POST /queries/run_by_identifiers",
  "POST /spec/state",
  "POST /selectors/check",
  "POST /sso",
  "POST /targets",
  "POST /targets/count",
  "POST /translate",
];

/**
 * Requests that need mail, a device, an identity provider or an authority. The activity of each is expected in the test
 * file that calls it: its name, the beginning of the type, and the helper if one calls it.
 */
const testedElsewhere: Readonly<Record<string, readonly [string, string, string?]>> = {
  "POST /approvals/:id/approve": ["hosts/approvals", "granted_approval"],
  "POST /approvals/:id/deny": ["hosts/approvals", "denied_approval"],
  "DELETE /android_enterprise": ["devices/android/android", "disabled_android_mdm"],
  "DELETE /abm_tokens/:id": ["devices/apple/portal", "deleted_abm_token"],
  "POST /mdm/vendora/apns_certificate": ["devices/apple/trust", "added_apns_certificate", "await upload(t"],
  "DELETE /mdm/vendora/apns_certificate": ["devices/apple/trust", "deleted_apns_certificate"],
  "DELETE /certificates/:id": ["certificates/certificates", "deleted_certificate_template"],
  "DELETE /certificate_authorities/:id": ["certificates/ca-authorities", "deleted_", "t.delete(`"],
  "DELETE /hosts/:id/activities/upcoming/:activity_id": ["hosts/host-activities", "canceled_run_script"],
  "POST /hosts/labels": ["inventory/bulk-actions", "edited_host_labels"],
  "POST /hosts/lock": ["inventory/bulk-actions", "locked_host"],
  "POST /hosts/unlock": ["inventory/bulk-actions", "unlocked_host"],
  "POST /hosts/wipe": ["inventory/bulk-actions", "wiped_host"],
  "POST /operations/cancel": ["hosts/operations-list", "canceled_run_script"],
  "DELETE /hosts/:id/mdm": ["hosts/host-mdm", "mdm_unenrolled"],
  "DELETE /spec/certificates": ["certificates/certificates", "deleted_certificate_template"],
  "PATCH /abm_tokens/:id/renew": ["devices/apple/portal", "renewed_abm_token"],
  "PATCH /abm_tokens/:id/teams": ["devices/apple/portal", "edited_abm_token_teams"],
  "PATCH /certificate_authorities/:id": ["certificates/ca-authorities", "edited_", "t.patch(`"],
  "PATCH /mdm/hosts/:id/unenroll": ["hosts/host-mdm", "mdm_unenrolled"],
  "PATCH /teams/0": ["settings/team-settings", "edited_team"],
  "PATCH /webhooks/destinations": ["automations/webhooks", "edited_webhook_destination"],
  "POST /software/svc_maintained_apps": ["software/catalogue-add", "added_software"],
  "POST /software/app_store_apps": ["delivery/store-apps", "added_app_store_app"],
  "PATCH /software/titles/:id/app_store_app": ["delivery/store-apps", "edited_app_store_app"],
  "POST /software/app_store_apps/batch": ["delivery/store-apps", "deleted_app_store_app"],
  "POST /vpp_tokens": ["delivery/vpp-tokens", "enabled_vpp"],
  "PATCH /vpp_tokens/:id/renew": ["delivery/vpp-tokens", "renewed_vpp"],
  "PATCH /vpp_tokens/:id/teams": ["delivery/vpp-tokens", "edited_vpp_teams"],
  "DELETE /vpp_tokens/:id": ["delivery/vpp-tokens", "disabled_vpp"],
  "DELETE /mdm/vendora/vpp_token": ["delivery/vpp-tokens", "disabled_vpp"],
  "POST /conditional-access/directory": [
    "automations/conditional-access-directory",
    "added_conditional_access_integration_directory",
  ],
  "DELETE /conditional-access/directory": [
    "automations/conditional-access-directory",
    "deleted_conditional_access_integration_directory",
  ],
  "PUT /directory_graph_credentials": [
    "hosts/directory-sync",
    "added_directory_graph_credentials",
    "put(credentials()",
  ],
  "POST /abm_tokens": ["devices/apple/portal", "added_abm_token"],
  "POST /hosts/release_ab": ["devices/apple/portal", "released_host"],
  "POST /enrollment_profiles/automatic": ["devices/apple/portal", "changed_macos_setup_assistant"],
  "DELETE /enrollment_profiles/automatic": ["devices/apple/portal", "deleted_macos_setup_assistant"],
  "POST /mdm/commands/run": ["devices/commands", "ran_custom_mdm_command", "run(t,"],
  "POST /mdm/vendora/enqueue": ["devices/commands", "ran_custom_mdm_command", "run(t,"],
  "DELETE /hosts/:id/commands/:command_uuid": ["devices/commands", "canceled_mdm_command"],
  "POST /bootstrap": ["devices/apple/bootstrap", "added_bootstrap_package", "upload(t"],
  "DELETE /bootstrap/:team_id": ["devices/apple/bootstrap", "deleted_bootstrap_package"],
  "POST /setup_experience/eula": ["devices/apple/bootstrap", "added_eula", "add(content"],
  "DELETE /setup_experience/eula/:token": ["devices/apple/bootstrap", "deleted_eula"],
  "POST /scripts/run/batch": ["delivery/script-batches", "ran_script_batch", "begin(t"],
  "POST /scripts/batch/:batch_execution_id/cancel": ["delivery/script-batches", "canceled_script_batch", "/cancel`"],
  "POST /software/package": ["software/packages", "added_software", "upload(t"],
  "POST /software/batch": ["software/package-batches", "added_software", "replaced(t"],
  "PUT /software/titles/:id/icon": ["software/self-service", "edited_software"],
  "DELETE /software/titles/:id/icon": ["software/self-service", "deleted_software"],
  "POST /device/:token/software/install_all": [
    "delivery/self-service-installs",
    "installed_all_self_service_software",
    "await all(",
  ],
  "PATCH /software/titles/:id/package": ["software/packages", "edited_software", "t.patch(path"],
  "DELETE /software/titles/:id/available_for_install": [
    "software/packages",
    "deleted_software",
    "available_for_install",
  ],
  "POST /scripts": ["delivery/scripts", "added_script", "save(t"],
  "PATCH /scripts/:id": ["delivery/scripts", "updated_script"],
  "DELETE /scripts/:id": ["delivery/scripts", "deleted_script"],
  "POST /host_name_template": ["devices/apple/names", "edited_config", 't.post("/host_name_template"'],
  "POST /disk_encryption": ["hosts/disk-encryption", "enabled_macos_disk_encryption", 't.post("/disk_encryption"'],
  "PATCH /mdm/vendora/settings": ["hosts/disk-encryption", "enabled_macos_disk_encryption"],
  "PATCH /setup_experience": ["devices/setup", "enabled_macos_setup_end_user_auth"],
  "POST /managed_local_account": ["devices/setup", "edited_team"],
  "PUT /setup_experience/software": ["delivery/setup-experience", "edited_setup_experience_software", "choose(t"],
  "POST /setup_experience/script": ["delivery/setup-experience", "added_script", "addScript(t"],
  "DELETE /setup_experience/script": ["delivery/setup-experience", "deleted_script"],
  "DELETE /mdm/profiles/:profile_uuid": ["devices/profiles/profiles", "deleted_declaration_profile"],
  "PATCH /configuration_profiles/:profile_uuid": ["devices/profiles/profile-uploads", "edited_macos_profile"],
  "POST /configuration_profiles": ["devices/profiles/profile-uploads", "created_macos_profile"],
  "POST /scripts/batch": ["delivery/scripts-replace", "edited_script", "/scripts/batch"],
  "POST /configuration_profiles/batch": ["devices/profiles/profiles", "edited_declaration_profile", "batch(t,"],
  "POST /device/:token/configuration_profiles/:profile_uuid/resend": [
    "devices/profiles/profiles",
    "resent_configuration_profile",
  ],
  "POST /configuration_profiles/resend/batch": ["devices/profiles/profiles", "resent_configuration_profile_batch"],
  "POST /hosts/:id/configuration_profiles/:profile_uuid/resend": [
    "devices/profiles/profiles",
    "resent_configuration_profile",
  ],
  "POST /certificate_authorities": ["certificates/ca-authorities", "added_custom_scep_proxy"],
  "POST /certificates": ["certificates/certificates", "created_certificate_template"],
  "PUT /hosts/:id/custom_host_vitals/:vital_id": ["settings/variables", "edited_custom_host_vital_value"],
  "POST /change_password": ["accounts/account-activities", "changed_user_password"],
  "POST /hosts/:id/lock": ["hosts/host-actions", "locked_host"],
  "POST /hosts/:id/unlock": ["hosts/host-actions", "unlocked_host"],
  "POST /hosts/:id/wipe": ["hosts/host-actions", "wiped_host"],
  "POST /hosts/:id/clear_passcode": ["devices/apple/actions", "cleared_passcode", '"clear_passcode"'],
  "POST /hosts/:id/recovery_lock_password/rotate": [
    "devices/apple/passwords",
    "rotated_host_recovery_lock_password",
    "lockPath(id)}/rotate",
  ],
  "POST /hosts/:id/managed_account_password/rotate": [
    "devices/apple/passwords",
    "rotated_managed_local_account_password",
    "accountPath(id)}/rotate",
  ],
  "POST /perform_required_password_reset": ["accounts/account-activities", "changed_user_password"],
  "POST /reset_password": ["accounts/account-activities", "changed_user_password"],
  "POST /sessions": ["accounts/mfa", "user_logged_in"],
  "POST /setup": ["settings/setup", "created_user", "/api/v1/setup"],
  "POST /spec/certificate_authorities": ["certificates/ca-authorities", "edited_custom_scep_proxy"],
  "POST /spec/certificates": ["certificates/certificates", "created_certificate_template"],
  "POST /sso/callback": ["accounts/sso", "user_added_by_sso", "deliver("],
  "POST /sso/cli_token": ["accounts/sso-cli", "user_logged_in"],
  "POST /tasks/:id/cancel": ["platform/tasks", "canceled_task"],
  "POST /users": ["accounts/invites", "created_user"],
  "POST /users/roles/spec": ["server/roles-spec", "changed_user_global_role"],
  "POST /webhooks/deliveries/:id/give_up": ["automations/webhooks", "gave_up_webhook_delivery"],
  "POST /webhooks/deliveries/:id/replay": ["automations/webhooks", "replayed_webhook_delivery"],
};

/** Changes for which the list of activities has no type. */
const untold = [
  "POST /hosts/refetch",
  "POST /software/self_service_categories",
  "PATCH /software/self_service_categories/:id",
  "DELETE /software/self_service_categories/:id",
  "PATCH /software/titles/:id/name",
  "POST /hosts/:id/name_template/resend",
  // The activities are recorded when the host has done it.
  "POST /software/titles/:id/install",
  "POST /software/titles/:id/uninstall",
  "POST /device/:token/setup_experience/status",
  "POST /device/:token/software/install/:software_title_id",
  "POST /device/:token/software/uninstall/:software_title_id",
  "POST /device/:token/migrate_mdm",
  "POST /software/titles/:id/package/token",
  "POST /software/web_apps",
  "PUT /logo",
  // Requests that only compute an answer, as those by GET do.
  "POST /mdm/vendora/request_csr",
  "POST /mdm/vendora/dep/key_pair",
  // Without any effect.
  "POST /mdm/vendora/profiles/preassign",
  "POST /mdm/vendora/profiles/match",
  "DELETE /logo",
  // The activity is recorded when the host has run the script.
  "POST /scripts/run",
  "POST /scripts/run/sync",
  // The activity is recorded when the host has done it.
  "POST /hosts/:id/software/:software_title_id/install",
  "POST /hosts/:id/software/:software_title_id/uninstall",
  "POST /assets",
  "DELETE /assets/:asset_uuid",
  "POST /automations/reset",
  "POST /custom_host_vitals",
  "PATCH /custom_host_vitals/:id",
  "DELETE /custom_host_vitals/:id",
  "PUT /spec/custom_host_vitals",
  "POST /config/test_mail",
  "POST /device/:token/mdm/linux/trigger_escrow",
  "POST /device/:token/refetch",
  "POST /device/:token/rotate_encryption_key",
  "POST /device/:token/apns_ping",
  "POST /device/:token/bypass_conditional_access",
  // The activity is recorded when it begins.
  "POST /conditional-access/directory/confirm",
  "POST /hosts/:id/apns_ping",
  "POST /forgot_password",
  "POST /hosts/:id/refetch",
  "POST /logout",
  // What is done with the file is recorded.
  "POST /uploads",
  "PATCH /uploads/:id",
  "DELETE /uploads/:id",
  "POST /certificate_authorities/:id/request_certificate",
  "POST /webhooks/test",
  "PUT /hosts/:id/device_mapping",
];

type Body = Record<string, unknown>;
type Ids = Record<string, number>;
/** Endpoint, parameters, body, the recorded types, and the name under which the id of the new object is kept. */
type Step = readonly [string, (ids: Ids) => Body, (ids: Ids) => Body | undefined, readonly string[], string?];

const none = () => ({});
const sql = "SELECT 1";
const plannedQuery = { kind: "query", owner: null, name: "planned", action: "set", value: { query: sql } };

const steps: readonly Step[] = [
  ["POST /teams", none, () => ({ name: "Alpha" }), ["created_team"], "team"],
  ["POST /teams", none, () => ({ name: "Beta" }), ["created_team"], "beta"],
  ["PATCH /teams/:id", ({ team }) => ({ id: team }), () => ({ description: "d" }), ["edited_team"]],
  [
    "POST /teams/:id/agent_options",
    ({ team }) => ({ id: team }),
    () => ({ config: { options: { pack_delimiter: "_" } } }),
    ["edited_agent_options"],
  ],
  [
    "PATCH /teams/:id/secrets",
    ({ team }) => ({ id: team }),
    () => ({ secrets: [{ secret: "of-alpha" }] }),
    ["edited_enroll_secrets"],
  ],
  [
    "POST /users/admin",
    none,
    () => ({
      name: "Olga",
      email: "olga@example.com",
      password: "plain-Sailing-42-times",
      global_role: "observer",
    }),
    ["created_user"],
    "user",
  ],
  [
    "PATCH /users/:id",
    ({ user }) => ({ id: user }),
    () => ({ global_role: "maintainer" }),
    ["changed_user_global_role"],
  ],
  [
    "PATCH /users/:id",
    ({ user }) => ({ id: user }),
    ({ team }) => ({ teams: [{ id: team, role: "observer" }] }),
    ["deleted_user_global_role", "changed_user_team_role"],
  ],
  [
    "DELETE /teams/:id/users",
    ({ team }) => ({ id: team }),
    ({ user }) => ({ users: [{ id: user }] }),
    ["deleted_user_team_role"],
  ],
  [
    "PATCH /teams/:id/users",
    ({ team }) => ({ id: team }),
    ({ user }) => ({ users: [{ id: user, role: "admin" }] }),
    ["changed_user_team_role"],
  ],
  ["PATCH /users/:id", ({ user }) => ({ id: user }), () => ({ name: "Olga B." }), ["edited_user"]],
  [
    "PATCH /users/:id",
    ({ user }) => ({ id: user }),
    () => ({ new_password: "plain-Sailing-43-times" }),
    ["changed_user_password"],
  ],
  [
    "POST /users/:id/require_password_reset",
    ({ user }) => ({ id: user }),
    () => ({ require: true }),
    ["required_user_password_reset"],
  ],
  ["DELETE /users/:id", ({ user }) => ({ id: user }), () => undefined, ["deleted_user"]],
  ["DELETE /sessions/:id", ({ session }) => ({ id: session }), () => undefined, ["ended_user_sessions"]],
  ["DELETE /users/:id/sessions", ({ watched }) => ({ id: watched }), () => undefined, ["ended_user_sessions"]],
  // If nothing ended there is nothing to record.
  ["DELETE /users/:id/sessions", ({ watched }) => ({ id: watched }), () => undefined, []],
  ["POST /labels", none, () => ({ name: "by hand" }), ["created_label"], "label"],
  ["PATCH /labels/:id", ({ label }) => ({ id: label }), () => ({ description: "d" }), ["edited_label"]],
  ["POST /hosts/:id/labels", ({ host }) => ({ id: host }), () => ({ labels: ["by hand"] }), ["edited_host_labels"]],
  ["DELETE /hosts/:id/labels", ({ host }) => ({ id: host }), () => ({ labels: ["by hand"] }), ["edited_host_labels"]],
  ["DELETE /labels/id/:id", ({ label }) => ({ id: label }), () => undefined, ["deleted_label"]],
  ["POST /spec/labels", none, () => ({ specs: [{ name: "spec", query: sql }] }), ["created_label"]],
  ["POST /spec/labels", none, () => ({ specs: [{ name: "spec", query: sql }] }), []],
  ["POST /spec/labels", none, () => ({ specs: [{ name: "spec", query: sql, description: "d" }] }), ["edited_label"]],
  ["DELETE /labels/:name", () => ({ name: "spec" }), () => undefined, ["deleted_label"]],
  ["POST /views", none, () => ({ name: "mine", page: "hosts" }), [], "view"],
  ["PATCH /views/:id", ({ view }) => ({ id: view }), () => ({ shared: "everyone" }), ["edited_view"]],
  ["DELETE /views/:id", ({ view }) => ({ id: view }), () => undefined, ["deleted_view"]],
  ["POST /views", none, () => ({ name: "ours", page: "hosts", shared: "everyone" }), ["created_view"]],
  ["POST /plans", none, () => ({ changes: [plannedQuery] }), [], "plan"],
  ["POST /plans/:id/apply", ({ plan }) => ({ id: plan }), none, ["applied_plan", "applied_spec_saved_query"]],
  ["POST /plans/:id/apply", ({ plan }) => ({ id: plan }), none, []],
  ["DELETE /plans/:id", ({ plan }) => ({ id: plan }), () => undefined, []],
  ["POST /tokens", none, () => ({ name: "nightly" }), ["created_api_token"], "token"],
  ["DELETE /tokens/:id", ({ token }) => ({ id: token }), () => undefined, ["deleted_api_token"]],
  [
    "POST /invites",
    none,
    () => ({ email: "new@example.com", name: "New", global_role: "observer" }),
    ["created_invite"],
    "invite",
  ],
  ["PATCH /invites/:id", ({ invite }) => ({ id: invite }), () => ({ name: "Newer" }), ["edited_invite"]],
  ["DELETE /invites/:id", ({ invite }) => ({ id: invite }), () => undefined, ["deleted_invite"]],
  ["POST /scim/Users", none, () => ({ userName: "ann@example.com" }), ["created_scim_user"]],
  [
    "PUT /scim/Users/:id",
    () => ({ id: 1 }),
    () => ({ userName: "ann@example.com", active: false }),
    ["edited_scim_user"],
  ],
  ["PUT /scim/Users/:id", () => ({ id: 1 }), () => ({ userName: "ann@example.com", active: false }), []],
  [
    "PATCH /scim/Users/:id",
    () => ({ id: 1 }),
    () => ({ Operations: [{ op: "replace", path: "active", value: "True" }] }),
    ["edited_scim_user"],
  ],
  ["POST /scim/Groups", none, () => ({ displayName: "Sales" }), ["created_scim_group"]],
  [
    "PATCH /scim/Groups/:id",
    () => ({ id: 1 }),
    () => ({ Operations: [{ op: "Add", path: "members", value: [{ value: "1" }] }] }),
    ["edited_scim_group"],
  ],
  ["PUT /scim/Groups/:id", () => ({ id: 1 }), () => ({ displayName: "Sales" }), ["edited_scim_group"]],
  ["DELETE /scim/Groups/:id", () => ({ id: 1 }), () => undefined, ["deleted_scim_group"]],
  ["DELETE /scim/Users/:id", () => ({ id: 1 }), () => undefined, ["deleted_scim_user"]],
  [
    "PUT /hosts/:id/device_mapping",
    ({ host }) => ({ id: host }),
    () => ({ email: "ann@example.com", source: "idp" }),
    ["edited_host_idp_data"],
  ],
  ["DELETE /hosts/:id/device_mapping/idp", ({ host }) => ({ id: host }), () => undefined, ["edited_host_idp_data"]],
  ["POST /custom_variables", none, () => ({ name: "TOKEN", value: "one" }), ["created_custom_variable"], "variable"],
  [
    "PUT /spec/secret_variables",
    none,
    () => ({ secrets: [{ name: "TOKEN", value: "two" }] }),
    ["edited_custom_variable"],
  ],
  [
    "PATCH /custom_variables/:id",
    ({ variable }) => ({ id: variable }),
    () => ({ uses: ["profiles"] }),
    ["edited_custom_variable"],
  ],
  ["DELETE /custom_variables/:id", ({ variable }) => ({ id: variable }), () => undefined, ["deleted_custom_variable"]],
  ["PATCH /config", none, () => ({ org_info: { org_name: "Other" } }), ["edited_config"]],
  [
    "POST /spec/enroll_secret",
    none,
    () => ({ spec: { secrets: [{ secret: "global-secret" }] } }),
    ["edited_enroll_secrets"],
  ],
  ["POST /enroll_tokens", none, () => ({}), ["created_enroll_token"]],
  ["POST /global/policies", none, () => ({ name: "p", query: sql }), ["created_policy"], "policy"],
  ["PATCH /global/policies/:id", ({ policy }) => ({ id: policy }), () => ({ description: "d" }), ["edited_policy"]],
  ["POST /policies/:id/reset", ({ policy }) => ({ id: policy }), () => ({}), ["reset_policy"]],
  ["POST /global/policies/delete", none, ({ policy }) => ({ ids: [policy] }), ["deleted_policy"]],
  [
    "POST /teams/:id/policies",
    ({ team }) => ({ id: team }),
    () => ({ name: "tp", query: sql }),
    ["created_policy"],
    "policy",
  ],
  [
    "PATCH /teams/:team_id/policies/:policy_id",
    ({ team, policy }) => ({ team_id: team, policy_id: policy }),
    () => ({ description: "d" }),
    ["edited_policy"],
  ],
  [
    "POST /teams/:team_id/policies/delete",
    ({ team }) => ({ team_id: team }),
    ({ policy }) => ({ ids: [policy] }),
    ["deleted_policy"],
  ],
  ["POST /spec/teams", none, () => ({ specs: [{ name: "Delta" }] }), ["applied_spec_team"]],
  ["POST /spec/teams", none, () => ({ specs: [{ name: "Delta", features: {} }] }), []],
  [
    "POST /spec/apply",
    none,
    () => ({ changes: [{ kind: "team", owner: null, name: "Delta", action: "delete" }] }),
    ["deleted_team"],
  ],
  ["POST /spec/policies", none, () => ({ specs: [{ name: "sp", query: sql }] }), ["applied_spec_policy"]],
  ["POST /queries", none, () => ({ name: "q", query: sql }), ["created_saved_query"], "query"],
  ["PATCH /queries/:id", ({ query }) => ({ id: query }), () => ({ description: "d" }), ["edited_saved_query"]],
  [
    "POST /global/schedule",
    none,
    ({ query }) => ({ query_id: query, interval: 60 }),
    ["created_saved_query"],
    "scheduled",
  ],
  [
    "PATCH /global/schedule/:id",
    ({ scheduled }) => ({ id: scheduled }),
    () => ({ interval: 120 }),
    ["edited_saved_query"],
  ],
  ["DELETE /global/schedule/:id", ({ scheduled }) => ({ id: scheduled }), () => undefined, ["deleted_saved_query"]],
  [
    "POST /teams/:id/schedule",
    ({ team }) => ({ id: team }),
    ({ query }) => ({ query_id: query, interval: 60 }),
    ["created_saved_query"],
    "scheduled",
  ],
  [
    "PATCH /teams/:team_id/schedule/:scheduled_query_id",
    ({ team, scheduled }) => ({ team_id: team, scheduled_query_id: scheduled }),
    () => ({ interval: 120 }),
    ["edited_saved_query"],
  ],
  [
    "DELETE /teams/:team_id/schedule/:scheduled_query_id",
    ({ team, scheduled }) => ({ team_id: team, scheduled_query_id: scheduled }),
    () => undefined,
    ["deleted_saved_query"],
  ],
  ["POST /packs", none, () => ({ name: "pack" }), ["created_pack"], "pack"],
  ["PATCH /packs/:id", ({ pack }) => ({ id: pack }), () => ({ description: "d" }), ["edited_pack"]],
  [
    "POST /schedule",
    none,
    ({ pack, query }) => ({ pack_id: pack, query_id: query, interval: 60, snapshot: true, removed: false }),
    ["edited_pack"],
    "scheduled",
  ],
  ["PATCH /schedule/:id", ({ scheduled }) => ({ id: scheduled }), () => ({ interval: 90 }), ["edited_pack"]],
  ["DELETE /schedule/:id", ({ scheduled }) => ({ id: scheduled }), () => undefined, ["edited_pack"]],
  ["DELETE /packs/id/:id", ({ pack }) => ({ id: pack }), () => undefined, ["deleted_pack"]],
  ["POST /spec/packs", none, () => ({ specs: [{ name: "sp", queries: [] }] }), ["applied_spec_pack"]],
  ["DELETE /packs/:name", () => ({ name: "sp" }), () => undefined, ["deleted_pack"]],
  ["DELETE /queries/id/:id", ({ query }) => ({ id: query }), () => undefined, ["deleted_saved_query"]],
  ["POST /spec/queries", none, () => ({ specs: [{ name: "sq", query: sql }] }), ["applied_spec_saved_query"]],
  ["DELETE /queries/:name", () => ({ name: "sq" }), () => undefined, ["deleted_saved_query"]],
  ["POST /queries", none, () => ({ name: "q2", query: sql }), ["created_saved_query"], "query"],
  ["POST /queries/delete", none, ({ query }) => ({ ids: [query] }), ["deleted_multiple_saved_query"]],
  ["POST /hosts/transfer", none, ({ team, host }) => ({ team_id: team, hosts: [host] }), ["transferred_hosts"]],
  [
    "POST /hosts/transfer/filter",
    none,
    ({ beta, team }) => ({ team_id: beta, filters: { team_id: team } }),
    ["transferred_hosts"],
  ],
  ["DELETE /hosts/:id", ({ host }) => ({ id: host }), () => undefined, ["deleted_host"]],
  ["POST /hosts/delete", none, ({ other }) => ({ ids: [other] }), ["deleted_host"]],
  ["DELETE /teams/:id", ({ team }) => ({ id: team }), () => undefined, ["deleted_team"]],
  ["POST /login", none, () => ({ email: "ada@example.com", password: "correct-horse-battery-1" }), ["user_logged_in"]],
];

const trigger: Step = ["POST /trigger", none, () => undefined, ["triggered_job"]];

const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

it("covers every endpoint that is not a GET", () => {
  const known = new Set([
    ...[...steps, trigger].map(([key]) => key),
    ...changesNothing,
    ...Object.keys(testedElsewhere),
    ...untold,
  ]);
  const all = allEndpoints.map(({ endpoint }) => endpoint).filter(({ method }) => method !== "GET");
  expect(all.map(keyOf).filter((key) => !known.has(key))).toEqual([]);
  expect([...known].filter((key) => !all.some((endpoint) => keyOf(endpoint) === key))).toEqual([]);
});

it.each(Object.entries(testedElsewhere))("%s is called where its activity is expected", (key, [file, type, helper]) => {
  const text = readFileSync(new URL(`../../${file}.test.ts`, import.meta.url), "utf8");
  const path = key.split(" ")[1]!.replaceAll(/:[a-z_]+/g, "[^/\\s]+");
  if (helper === undefined) expect(text).toMatch(new RegExp(`["\`]${path}[\`"?]`));
  else expect(text).toContain(helper);
  expect(text).toMatch(new RegExp(`["\`]${type}`));
});

describe.each(bothEngines)("on %s", (engine) => {
  it("each change is recorded once", async () => {
    const t = await startApp({ engine });
    const robot = await makeUser(t, "admin", { api_only: true });
    const ids: Ids = { host: (await makeHost(t)).id, other: (await makeHost(t)).id };
    const watched = (await makeUser(t, "observer")).id;
    await createSession({ ...t.services, store: t.store }, watched);
    const [session] = await t.store.sessions.list({ where: eq("user_id", watched) });
    Object.assign(ids, { watched, session: session!.id });
    for (const [key, params, body, expected, keep] of [...steps, trigger]) {
      const [method, template] = key.split(" ") as [string, string];
      const given = params(ids);
      const query = key === "POST /trigger" ? "?name=query_stats" : "";
      const path = template.replaceAll(/:([a-z_]+)/g, (_, name: string) => String(given[name]));
      const before = Number((await t.store.activities.max("id")) ?? 0);
      const res = await robot.request(method, `${path}${query}`, body(ids));
      expect(res.ok, `${key}: ${res.status} ${await res.clone().text()}`).toBe(true);
      expect(
        (await told(t, before)).map(({ type }) => type),
        key,
      ).toEqual(expected);
      if (keep !== undefined) ids[keep] = idIn(await res.json());
    }
  });
});

const told = (t: TestApp, after: number) => t.store.activities.list({ where: gt("id", after) });

/** The id of the reply's object, whatever its name. */
function idIn(reply: unknown): number {
  const body = reply as Record<string, unknown>;
  if (typeof body.id === "number") return body.id;
  const objects = Object.values(body).filter(
    (value): value is { id: number } => typeof value === "object" && value !== null && "id" in value,
  );
  return objects[0]!.id;
}
