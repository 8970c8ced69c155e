import { allPolicyFields } from "../../../api/checks/policies.ts";
import { plainColumns } from "../../platform/store/plain-columns.ts";
import { bool, id, idOf, ids, int, json, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly policies: typeof policies;
    readonly policyLabels: typeof policyLabels;
    readonly hostPolicies: typeof hostPolicies;
    readonly policyCountChanges: typeof policyCountChanges;
    readonly policyEvents: typeof policyEvents;
    readonly policyInstalls: typeof policyInstalls;
  }
}

export const policies = table(
  "policies",
  {
    id: id(),
    created_at: time(),
    updated_at: time(),
    /** The hosts it applies to: all, those of one team, or those without a team. */
    scope: text<"global" | "team" | "no_team">(),
    /** Set only for scope `team`. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    name: text().search(),
    /** SQL. That of a patch policy follows from its app (patch.ts). */
    query: text(),
    ...plainColumns(allPolicyFields),
    /** Comma-separated; empty: all platforms. */
    platform: text().default(""),
    author_id: ref("users").nullable(),
    software_title_id: int().nullable(),
    script_id: int().nullable(),
    /** A profile of the policy's team that failing hosts get again. */
    resend_profile_uuid: text().nullable(),
    /** The maintained app of a patch policy. */
    catalogue_app_id: int().nullable(),
    /** Identifies the results in `hostPolicies`. Assigning a new one clears all results. */
    result_id: int().unique(),
    /**
     * Increased when the policy applies to other hosts. The higher of this and `result_id` is the policy's revision.
     */
    asked_revision: int().default(0),
    passing_host_count: int().default(0),
    failing_host_count: int().default(0),
    host_count_updated_at: time().nullable(),
  },
  { unique: [["scope", "team_id", "name"]] },
);

/** Labels that restrict a policy: to hosts with any of them, with all of them, or with none of them. */
export const policyLabels = table(
  "policy_labels",
  {
    id: id(),
    policy_id: ref("policies"),
    label_id: ref("labels").onDelete("restrict"),
    excludes: bool().default(false),
    requires_all: bool().default(false),
  },
  { unique: [["policy_id", "label_id"]] },
);

/**
 * One row per host rather than per host and policy, of which there would be millions. The ids are `policies.result_id`.
 */
export const hostPolicies = table("host_policies", {
  id: idOf("hosts"),
  passing: ids("policies"),
  failing: ids("policies"),
  /** Vulnerabilities of the host that count as critical (software/vulnerabilities/critical.ts). */
  critical_count: int().default(0),
  /** Length of `failing` and `critical_count` together, for sorting lists. */
  issues_count: int().default(0).ordered(),
});

/** Differences of passing and failing host counts in one transaction, by result id. */
export type CountChanges = readonly (readonly [resultId: number, passing: number, failing: number])[];

/** Written along with the results and added to the counts later, so that ingests do not contend for a policy's row. */
export const policyCountChanges = table("policy_count_changes", { id: id(), changes: json<CountChanges>() });

/** Hosts that newly fail a policy with enabled automations, until all have run. Removed if the host passes again. */
export const policyEvents = table(
  "policy_events",
  {
    id: id(),
    policy_id: ref("policies"),
    host_id: ref("hosts"),
    at: time().index(),
    /** The webhook or ticket is in the outbox: the row waits for the mail. */
    is_reported: bool().default(false),
    /** The mail is in the outbox: the row waits for the webhook or ticket. */
    is_mailed: bool().default(false),
  },
  { unique: [["policy_id", "host_id"]] },
);

/** Hosts that newly fail a policy that does something with them, until they were asked to do it. */
export const policyInstalls = table(
  "policy_installs",
  {
    id: id(),
    policy_id: ref("policies"),
    host_id: ref("hosts"),
    at: time(),
    /** The script that notifies the user of the host before the app is patched. Null: none was asked for. */
    notice_uuid: text().nullable(),
  },
  { unique: [["policy_id", "host_id"]] },
);
