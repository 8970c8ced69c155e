import { bool, id, idOf, ids, int, json, ref, table, text, time } from "../store/table.ts";

export const policies = table(
  "policies",
  {
    id: id(),
    created_at: time(),
    updated_at: time(),
    /** Whose hosts: every host's, one team's, or those without a team. */
    scope: text<"global" | "team" | "no_team">(),
    /** Set for scope `team` only. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    name: text().search(),
    query: text(),
    description: text().default(""),
    resolution: text().default(""),
    /** Comma-separated; empty: every platform. */
    platform: text().default(""),
    critical: bool().default(false),
    author_id: ref("users").nullable(),
    calendar_events_enabled: bool().default(false),
    conditional_access_enabled: bool().default(false),
    software_title_id: int().nullable(),
    script_id: int().nullable(),
    /** What results are kept under, in `hostPolicies`: a new one is as good as clearing all results. */
    result_id: int().unique(),
    passing_host_count: int().default(0),
    failing_host_count: int().default(0),
    host_count_updated_at: time().nullable(),
  },
  { unique: [["scope", "team_id", "name"]] },
);

/** The labels that narrow a policy's hosts: to those with any of them, or to those with none. */
export const policyLabels = table(
  "policy_labels",
  {
    id: id(),
    policy_id: ref("policies"),
    label_id: ref("labels").onDelete("restrict"),
    excludes: bool().default(false),
  },
  { unique: [["policy_id", "label_id"]] },
);

/** One row a host, not one a pair: 100,000 hosts with 50 policies would be 5 million. The ids are `policies.result_id`. */
export const hostPolicies = table("host_policies", {
  id: idOf("hosts"),
  passing: ids("policies"),
  failing: ids("policies"),
  /** As many as `failing` has: lists are ordered by it. */
  failing_count: int().default(0).ordered(),
});

/** Where `result_id`s come from: ids of these rows are never given twice. Only the newest row is kept. */
export const policyResultIds = table("policy_result_ids", { id: id(), created_at: time() });

/** What one transaction changed of the counts of results: passing and failing hosts more (or fewer), by result id. */
export type CountChanges = readonly (readonly [resultId: number, passing: number, failing: number])[];

/** Written with the results themselves, and soon added to the policies' counts: no two ingests wait for one policy's row. */
export const policyCountChanges = table("policy_count_changes", { id: id(), changes: json<CountChanges>() });

/** Hosts that newly fail a policy whose automation is on, until that has been told; one that passes again is taken out. */
export const policyEvents = table(
  "policy_events",
  { id: id(), policy_id: ref("policies"), host_id: ref("hosts"), at: time().index() },
  { unique: [["policy_id", "host_id"]] },
);
