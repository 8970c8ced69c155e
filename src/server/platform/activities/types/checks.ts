// Labels, views, policies with their automations, queries and packs.
import type { PolicySpec } from "../../../../api/checks/policies.ts";
import type { QuerySpec } from "../../../../api/checks/queries.ts";
import type { HostDetails, TeamDetails } from "./details.ts";

interface ViewDetails extends TeamDetails {
  view_id: number;
  view_name: string;
  page: string;
}

interface LabelDetails {
  label_id: number;
  label_name: string;
}

/** The team of a query: -1 without a name stands for global. */
interface QueryTeam {
  team_id: number;
  team_name?: string;
}

/** The team of a policy: -1 stands for global, 0 for hosts without a team, both without a name. */
interface PolicyDetails {
  policy_id: number;
  policy_name: string;
  team_id: number;
  team_name?: string;
}

/** The policy whose automation ran. Without the name if it was deleted meanwhile. */
interface AutomationDetails {
  policy_id: number;
  policy_name?: string;
}

export interface CheckActivities {
  created_label: LabelDetails;
  edited_label: LabelDetails;
  deleted_label: LabelDetails;
  /** Labels assigned to or removed from a host manually. */
  edited_host_labels: HostDetails & { added: readonly string[]; removed: readonly string[] };
  /** Views of lists that are shared with a team (null: with everyone). */
  created_view: ViewDetails;
  edited_view: ViewDetails;
  deleted_view: ViewDetails;
  created_policy: PolicyDetails;
  edited_policy: PolicyDetails;
  deleted_policy: PolicyDetails;
  /** The results of the policy were deleted. Not among the documented types. */
  reset_policy: PolicyDetails;
  /** `count`: the total, if the list is truncated. */
  applied_spec_policy: { policies: readonly PolicySpec[]; count?: number };
  created_saved_query: QueryTeam & { query_id: number; query_name: string };
  edited_saved_query: QueryTeam & { query_id: number; query_name: string };
  deleted_saved_query: QueryTeam & { query_name: string };
  deleted_multiple_saved_query: QueryTeam & { query_ids: readonly number[] };
  applied_spec_saved_query: { specs: readonly (QuerySpec | Pick<QuerySpec, "name" | "team">)[]; count?: number };
  created_pack: { pack_id: number; pack_name: string };
  edited_pack: { pack_id: number; pack_name: string };
  deleted_pack: { pack_name: string };
  applied_spec_pack: Record<string, never>;
  live_query: { targets_count: number; query_sql: string; query_name?: string; stats?: Record<string, unknown> };
  /** A recipient of mails about failing policies used the link in one of them. `team_id` null: global policies. */
  unsubscribed_from_policy_mails: { email: string; team_id: number | null; team_name: string | null };
  ran_automation_webhook: AutomationDetails & { status_code?: number };
  failed_automation_webhook: AutomationDetails & { status_code?: number; error_response: string };
  ran_automation_ticket: AutomationDetails & {
    type: "ticketing_a" | "ticketing_b";
    ticket_key?: string;
    ticket_id?: string;
  };
  failed_automation_ticket: AutomationDetails & { type: "ticketing_a" | "ticketing_b"; error_response: string };
  ran_automation_calendar_event: AutomationDetails & { status_code?: number };
  failed_automation_calendar_event: AutomationDetails & { status_code?: number; error_response: string };
  ran_automation_conditional_access: AutomationDetails & { status_code?: number };
  failed_automation_conditional_access: AutomationDetails & { status_code?: number; error_response: string };
}
