// The entries of the activity feed that explain a change, and those that only look similar.
import { describe, expect, it } from "vitest";
import type { Change } from "../../src/gitops/plan/diff.ts";
import { asDrift, explains, typesFor } from "../../src/gitops/plan/drift.ts";
import type { ActivityTypes } from "../../src/server/platform/activities/types.ts";

const change = (kind: Change["kind"], owner: string | null, name: string, ...paths: string[]): Change => ({
  action: "update",
  kind,
  owner,
  name,
  fields: paths.map((path) => ({ path, old: 1, new: 2 })),
  value: null,
});
const missing = (one: Change): Change => ({ ...one, action: "create" });
const extra = (one: Change): Change => ({ ...one, action: "delete" });

const org = change("config", null, "org_info", "org_name");
const hooks = change("config", null, "webhook_settings", "activities_webhook.destination_url");
const mdm = change("config", null, "mdm", "ios_updates.deadline");
const team = change("team_settings", "Ops", "team_settings", "mdm.ios_updates.deadline", "features.enable_host_users");
const disk = change("policy", "Ops", "Disk", "query");
const reported = change("policy", null, "Disk", "webhooks_and_tickets_enabled");
const users = change("query", null, "Users", "query");
const laptops = change("label", null, "Laptops", "hosts");
const wifi = change("certificate_authority", null, "custom_scep_proxy/WIFI", "url");
const proxy = change("certificate_authority", null, "directory_scep_proxy/directory_scep_proxy", "url");

type Type = keyof ActivityTypes;
type Case = readonly [what: Change, type: Type, details: Record<string, unknown>, tells: boolean];
const changes = (...paths: string[]) => ({ changes: paths.map((path) => ({ path, old: 1, new: 2 })) });
const policyList = [{ name: "Disk", team: "Ops" }];

const cases: readonly Case[] = [
  [org, "edited_config", { sections: ["org_info"], ...changes("org_info.org_name") }, true],
  [org, "edited_config", { sections: ["org_info"], ...changes("org_info.contact_url") }, false],
  [org, "edited_config", { sections: ["org_info"], ...changes("org_info.org_name_of_old") }, false],
  [hooks, "edited_activity_automations", { webhook_url: "x" }, true],
  [hooks, "enabled_gitops_mode", {}, false],
  [mdm, "edited_ios_min_version", { team_id: null, team_name: null }, true],
  [mdm, "edited_ios_min_version", { team_id: 3, team_name: "Ops" }, false],
  [mdm, "edited_ipados_min_version", { team_id: null, team_name: null }, false],
  [team, "edited_ios_min_version", { team_id: 3, team_name: "Ops" }, true],
  [team, "edited_ios_min_version", { team_id: null, team_name: null }, false],
  [team, "edited_team", { team_id: 3, team_name: "Ops", ...changes("features.enable_host_users") }, true],
  [team, "edited_team", { team_id: 3, team_name: "Ops", ...changes("description") }, false],
  [team, "edited_team", { team_id: 4, team_name: "Lab", ...changes("features.enable_host_users") }, false],
  [
    change("team_settings", "No team", "team_settings", "integrations.ticketing_a"),
    "edited_team",
    { team_id: 0, team_name: "No team", ...changes("integrations.ticketing_a.0.url") },
    true,
  ],
  [
    change("team", null, "Ops", "description"),
    "edited_team",
    { team_id: 3, team_name: "Ops", ...changes("description") },
    true,
  ],
  [
    change("team", null, "Ops", "description"),
    "edited_team",
    { team_id: 3, team_name: "Ops", ...changes("mdm.x") },
    false,
  ],
  [missing(change("team", null, "Ops")), "deleted_team", { team_id: 3, team_name: "Ops" }, true],
  [missing(change("team", null, "Ops")), "created_team", { team_id: 3, team_name: "Ops" }, false],
  [extra(change("team", null, "Ops")), "created_team", { team_id: 3, team_name: "Ops" }, true],
  [extra(change("team", null, "Ops")), "deleted_team", { team_id: 3, team_name: "Ops" }, false],
  [
    change("agent_options", null, "agent_options", ""),
    "edited_agent_options",
    { global: true, team_id: null, team_name: null },
    true,
  ],
  [
    change("agent_options", "Ops", "agent_options", ""),
    "edited_agent_options",
    { global: true, team_id: null, team_name: null },
    false,
  ],
  [
    change("enroll_secrets", "Ops", "enroll_secrets", "secrets"),
    "edited_enroll_secrets",
    { team_id: 3, team_name: "Ops" },
    true,
  ],
  [disk, "edited_policy", { policy_id: 1, policy_name: "Disk", team_id: 3, team_name: "Ops" }, true],
  [disk, "edited_policy", { policy_id: 1, policy_name: "Disk", team_id: -1 }, false],
  [
    change("policy", "No team", "Disk", "query"),
    "edited_policy",
    { policy_id: 1, policy_name: "Disk", team_id: 0 },
    true,
  ],
  [disk, "applied_spec_policy", { policies: policyList }, true],
  [change("policy", null, "Disk", "query"), "applied_spec_policy", { policies: policyList }, false],
  [disk, "deleted_policy", { policy_id: 1, policy_name: "Disk", team_id: 3, team_name: "Ops" }, false],
  [missing(disk), "deleted_policy", { policy_id: 1, policy_name: "Disk", team_id: 3, team_name: "Ops" }, true],
  [reported, "edited_config", changes("webhook_settings.failing_policies_webhook.policy_ids"), true],
  [reported, "edited_config", changes("webhook_settings.interval"), false],
  [users, "edited_saved_query", { query_id: 1, query_name: "Users", team_id: -1 }, true],
  [users, "edited_saved_query", { query_id: 1, query_name: "Users", team_id: 3, team_name: "Ops" }, false],
  [users, "applied_spec_saved_query", { specs: [{ name: "Users", team: "" }] }, true],
  [laptops, "edited_label", { label_id: 1, label_name: "Laptops" }, true],
  [laptops, "edited_host_labels", { host_id: 1, added: ["Laptops"], removed: [] }, true],
  [laptops, "edited_host_labels", { host_id: 1, added: ["Others"], removed: [] }, false],
  [wifi, "edited_custom_scep_proxy", { name: "WIFI" }, true],
  [wifi, "edited_custom_scep_proxy", { name: "OTHER" }, false],
  [wifi, "edited_custom_est_proxy", { name: "WIFI" }, false],
  [proxy, "edited_directory_scep_proxy", {}, true],
  [extra(wifi), "added_custom_scep_proxy", { name: "WIFI" }, true],
];

describe("the feed", () => {
  it.each(cases)("%j: %s %j explains: %s", (what, type, details, tells) => {
    expect(explains({ type, details } as Parameters<typeof explains>[0], what)).toBe(tells);
  });

  it("is requested once, with only the types that can explain a change", () => {
    const types = typesFor(cases.map(([what]) => what));
    for (const [what, type, , tells] of cases) if (tells) expect(types, `${what.kind}`).toContain(type);
    expect(types.length).toBeLessThanOrEqual(200);
    expect(typesFor([users])).toEqual([
      "applied_spec_saved_query",
      "created_saved_query",
      "deleted_saved_query",
      "edited_saved_query",
    ]);
    expect(typesFor([])).toEqual([]);
  });

  it("is shown from the files to the server", () => {
    expect(asDrift(org)).toMatchObject({ action: "update", fields: [{ path: "org_name", old: 2, new: 1 }] });
    expect(asDrift(missing(disk)).action).toBe("delete");
    expect(asDrift(extra(disk)).action).toBe("create");
  });
});
