// Files that were written for other systems of this form: each key that is not taken says what it is called here.
import { describe, expect, it } from "vitest";
import { errorsOf, readGiven, warningsOf } from "../support/gitops-files.ts";

const org = (text: string) => ({ "default.yml": `org_settings: {${text}}\n` });
const controls = (text: string) => ({ "default.yml": `org_settings: {}\ncontrols: {${text}}\n` });
const team = (text: string) => ({ "a.yml": `name: A\n${text}\n` });
const policy = (text: string) => team(`policies: [{name: P, ${text}}]`);

const keys: [Record<string, string>, string, string][] = [
  [org("fleet_desktop: {transparency_url: x}"), "fleet_desktop", "svc_desktop"],
  [org("integrations: {google_calendar: [{}]}"), "google_calendar", "calendar"],
  [org("integrations: {jira: [{}]}"), "jira", "ticketing_a"],
  [org("integrations: {zendesk: [{}]}"), "zendesk", "ticketing_b"],
  [org("mdm: {apple_business_manager: []}"), "apple_business_manager", "vendora_business_manager"],
  [org("mdm: {apple_business: []}"), "apple_business", "vendora_business"],
  [org("mdm: {vendora_business: [{organization_name: X, macos_fleet: a}]}"), "macos_fleet", "macos_team"],
  [org("mdm: {vendora_business: [{organization_name: X, byod_fleet: a}]}"), "byod_fleet", "byod_team"],
  [org("mdm: {volume_purchasing_program: [{location: X, fleets: []}]}"), "fleets", "teams"],
  [org("mdm: {apple_server_url: x}"), "apple_server_url", "vendora_server_url"],
  [org("mdm: {windows_automatic_enrollment: {default_fleet: x}}"), "default_fleet", "default_team"],
  [org("certificate_authorities: {digicert: []}"), "digicert", "hosted_ca_a"],
  [org("certificate_authorities: {ndes_scep_proxy: {}}"), "ndes_scep_proxy", "directory_scep_proxy"],
  [org("certificate_authorities: {hydrant: []}"), "hydrant", "hosted_est_ca"],
  [org("certificate_authorities: {smallstep: []}"), "smallstep", "hosted_scep_ca"],
  [org("entra_graph_credentials: []"), "entra_graph_credentials", "directory_graph_credentials"],
  [org("conditional_access: {okta_idp_id: x}"), "okta_idp_id", "provider_idp_id"],
  [controls("apple_settings: {}"), "apple_settings", "vendora_settings"],
  [controls("windows_entra_tenant_ids: []"), "windows_entra_tenant_ids", "windows_directory_tenant_ids"],
  [controls("apple_account_provisioning: {}"), "apple_account_provisioning", "vendora_account_provisioning"],
  [controls("setup_experience: {macos_bootstrap_package: x}"), "macos_bootstrap_package", "bootstrap_package"],
  [controls("setup_experience: {apple_setup_assistant: x}"), "apple_setup_assistant", "vendora_setup_assistant"],
  [
    controls("windows_settings: {enable_create_local_admin_account: true}"),
    "enable_create_local_admin_account",
    "enable_managed_local_account",
  ],
  [team("software: {fleet_maintained_apps: [{slug: a}]}"), "fleet_maintained_apps", "svc_maintained_apps"],
  [team("reports: [{name: Q, query: SELECT 1, min_osquery_version: 5}]"), "min_osquery_version", "min_qengine_version"],
  [
    policy("query: SELECT 1, install_software: {fleet_maintained_app_slug: x}"),
    "fleet_maintained_app_slug",
    "svc_maintained_app_slug",
  ],
  [policy("query: SELECT 1, install_software: {slug: x}"), "slug", "svc_maintained_app_slug"],
  [policy("type: patch, fleet_maintained_app_slug: x"), "fleet_maintained_app_slug", "svc_maintained_app_slug"],
];

describe("keys of other systems", () => {
  it.each(keys)("%j: %s is called %s", async (files, key, name) => {
    const pattern = new RegExp(`: unknown key [a-z_.0-9]*\\.${key}: it is called ${name} here$`);
    for (const allowUnknownKeys of [false, true]) {
      // What has another name here does not vanish with a warning.
      expect(errorsOf((await readGiven(files, { allowUnknownKeys })).problems)).toEqual([
        expect.stringMatching(pattern),
      ]);
    }
  });

  it.each([
    [org("server_settings: {deferred_save_host: true}"), "there is nothing like it here: remove it"],
    [org("server_settings: {debug_host_ids: [1]}"), "there is nothing like it here: remove it"],
    [controls("macos_setup: {software: [{package_path: x}]}"), "set setup_experience of the packages and apps instead"],
    [
      org("webhook_settings: {failing_policies_webhook: {policy_ids: [1]}}"),
      "must be empty: use webhooks_and_tickets_enabled of the policy instead",
    ],
  ])("%j has a hint", async (files, hint) => {
    expect(errorsOf((await readGiven(files)).problems)).toEqual([expect.stringContaining(`: ${hint}`)]);
  });

  it("that have no effect are ignored with a warning", async () => {
    const { problems } = await readGiven(controls("ios_updates: {update_new_hosts: true}"));
    expect(errorsOf(problems)).toEqual([]);
    expect(warningsOf(problems)).toEqual([
      "default.yml:2:26: controls.ios_updates.update_new_hosts is for Macs only, and ignored here",
    ]);
    const macs = await readGiven(controls("macos_updates: {update_new_hosts: true}"));
    expect(macs.problems.all).toEqual([]);
  });

  it("and their variables say what they are called here", async () => {
    const { problems } = await readGiven(
      {
        "default.yml":
          "org_settings: {}\ncontrols:\n  scripts: [{path: lib/a.sh}]\n  windows_settings:\n    configuration_profiles: [{path: lib/a.xml}]\n",
        "lib/a.sh": "#!/bin/sh\necho $FLEET_SECRET_KEY $FLEET_URL\n",
        "lib/a.xml": "<Replace>$FLEET_VAR_HOST_UUID</Replace>",
      },
      {},
      ["default.yml"],
    );
    expect(errorsOf(problems)).toEqual([
      "lib/a.xml:1:10: the environment variable FLEET_VAR_HOST_UUID is not set. What the server fills in is called $SVC_VAR_HOST_UUID here",
    ]);
    expect(warningsOf(problems)).toEqual([
      "lib/a.sh:2:6: $FLEET_SECRET_KEY stays as it is: what the server fills in is called $SVC_SECRET_KEY here",
    ]);
  });
});
