// The configuration, teams, GitOps, plans, jobs and webhooks.
import type { z } from "zod";
import type { GitopsExceptions } from "../../../../api/settings/app-config.ts";
import type { HistoryDataset } from "../../../../api/settings/history-settings.ts";
import type { Nothing, TeamDetails } from "./details.ts";

interface PlanDetails {
  plan_id: number;
  plan_name: string;
  created_by: string;
  changes: { create: number; update: number; delete: number };
}

/** One changed field of a configuration section. Secrets are masked and long texts truncated. */
export interface ConfigChange {
  path: string;
  old: z.core.util.JSONType;
  new: z.core.util.JSONType;
}

interface VariableDetails {
  custom_variable_id: number;
  custom_variable_name: string;
}

export interface SettingsActivities {
  applied_spec_team: { teams: readonly { id: number; name: string }[] };
  created_team: { team_id: number; team_name: string };
  deleted_team: { team_id: number; team_name: string };
  edited_agent_options: TeamDetails & { global: boolean };
  /** Changes of the configuration that no other type covers; not among the documented types. */
  edited_config: { sections: readonly string[]; changes: readonly ConfigChange[] };
  /** A change of a team's settings, with the changed fields. */
  edited_team: { team_id: number; team_name: string; changes: readonly ConfigChange[] };
  /** With a team: the webhook for activities of its hosts, or of all hosts if the team's id is null. */
  enabled_activity_automations: { webhook_url: string } & Partial<TeamDetails>;
  edited_activity_automations: { webhook_url: string } & Partial<TeamDetails>;
  disabled_activity_automations: Partial<TeamDetails>;
  enabled_gitops_mode: Nothing;
  disabled_gitops_mode: Nothing;
  /** What people may change by hand in GitOps mode; not among the documented types. */
  edited_gitops_exceptions: GitopsExceptions;
  added_conditional_access_integration_directory: Nothing;
  deleted_conditional_access_integration_directory: Nothing;
  added_conditional_access_provider: Nothing;
  deleted_conditional_access_provider: Nothing;
  /** An empty name stands for no team. */
  enabled_conditional_access_automations: { team_id: number | null; team_name: string };
  disabled_conditional_access_automations: { team_id: number | null; team_name: string };
  /** `team` is the name of a team, or null for all hosts. */
  enabled_historical_dataset: TeamDetails & { dataset: HistoryDataset; team: string | null };
  disabled_historical_dataset: TeamDetails & { dataset: HistoryDataset; team: string | null };
  edited_enroll_secrets: TeamDetails;
  created_enroll_token: TeamDetails & { expires_at: string };
  created_custom_variable: VariableDetails;
  edited_custom_variable: VariableDetails;
  deleted_custom_variable: VariableDetails;
  canceled_task: { task_id: number; task_kind: string };
  /** A person changed what configuration files determine, although GitOps mode is on. */
  overrode_gitops_mode: { method: string; path: string; reason: string };
  /** All changes of a stored plan were made. The changes themselves have their own activities. */
  applied_plan: PlanDetails;
  /** A plan of another user. */
  deleted_plan: PlanDetails;
  /** A scheduled job was started manually. */
  triggered_job: { job_name: string };
  // Not among the documented types.
  edited_webhook_destination: { webhook_url: string; secret_rotated: boolean };
  gave_up_webhook_delivery: { delivery_id: number; event: string; webhook_url: string };
  replayed_webhook_delivery: { delivery_id: number; event: string; webhook_url: string };
}
