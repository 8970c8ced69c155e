// The types of the feed compared with the list that receivers of webhooks know (test/fixtures/activity-types.txt).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const types = "src/server/platform/activities/types";

/** Changes without a type in that list, which must be recorded too. */
const own = [
  "added_abm_token",
  "deleted_abm_token",
  "edited_abm_token_teams",
  "edited_vpp_teams",
  "released_host",
  "renewed_vpp",
  "renewed_abm_token",
  "added_apns_certificate",
  "certificate_expires",
  "deleted_apns_certificate",
  "renewed_apns_certificate",
  "added_eula",
  "deleted_eula",
  "deleted_upload",
  "changed_user_password",
  "created_api_token",
  "created_certificate_template",
  "created_enroll_token",
  "created_invite",
  "created_label",
  "applied_plan",
  "deleted_plan",
  "created_view",
  "deleted_view",
  "edited_view",
  "deleted_api_token",
  "deleted_certificate_template",
  "deleted_invite",
  "canceled_task",
  "deleted_label",
  "denied_approval",
  "edited_certificate_template",
  "edited_config",
  "edited_custom_variable",
  "edited_host_labels",
  "edited_invite",
  "edited_label",
  "edited_team",
  "edited_user",
  "edited_webhook_destination",
  "ended_user_sessions",
  "gave_up_webhook_delivery",
  "granted_approval",
  "replayed_webhook_delivery",
  "requested_approval",
  "required_user_password_reset",
  "created_scim_user",
  "edited_scim_user",
  "deleted_scim_user",
  "created_scim_group",
  "edited_scim_group",
  "deleted_scim_group",
  "added_directory_graph_credentials",
  "edited_directory_graph_credentials",
  "deleted_directory_graph_credentials",
  "triggered_job",
  "edited_gitops_exceptions",
  "enabled_historical_dataset",
  "disabled_historical_dataset",
  "overrode_gitops_mode",
  "unsubscribed_from_policy_mails",
];

const listed = new Set(readFileSync(join(root, "test/fixtures/activity-types.txt"), "utf8").trim().split("\n"));
const declared = readdirSync(join(root, types)).flatMap((name) => {
  const text = readFileSync(join(root, types, name), "utf8");
  const body = text.match(/^export interface \w+Activities[\s\S]*/m)?.[0] ?? "";
  return [...body.matchAll(/^ {2}([a-z]\w*):/gm)].map(([, type]) => type!);
});

it("knows the whole list", () => {
  expect(listed.size).toBe(163);
});

it("has no type outside the two lists", () => {
  expect(declared.length).toBeGreaterThan(40);
  expect(new Set(declared).size).toBe(declared.length);
  expect(declared.filter((type) => !listed.has(type) && !own.includes(type))).toEqual([]);
  expect(own.filter((type) => listed.has(type))).toEqual([]);
});

it("records every type that it declares somewhere", () => {
  const sources = readdirSync(join(root, "src/server"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `src/server/${name.replaceAll("\\", "/")}`)
    .filter((name) => !name.startsWith(`${types}/`))
    .map((name) => readFileSync(join(root, name), "utf8"))
    .join("\n");
  // Some are composed of a verb and an object.
  const made = (type: string) => sources.includes(`"${type}"`) || sources.includes(`}_${type.replace(/^[a-z]+_/, "")}`);
  expect(declared.filter((type) => !made(type))).toEqual([]);
});
