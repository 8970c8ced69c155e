import type {
  AgentOptions,
  FailingPoliciesMail,
  FailingPoliciesWebhook,
  HostActivitiesWebhook,
  HostStatusWebhook,
  TeamFeatures,
} from "../../../api/settings/app-config.ts";
import type { TeamIntegrations, TeamMdm } from "../../../api/settings/teams.ts";
import { id, json, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly teams: typeof teams;
  }
}

/** `noTeamSettings` (no-team.ts) reads the settings of this type for hosts without a team. */
export interface TeamSettings {
  host_expiry_settings: { host_expiry_enabled: boolean; host_expiry_window: number };
  /** Features that were added later are absent if they were never set. */
  features: Omit<TeamFeatures, "historical_data"> & Partial<Pick<TeamFeatures, "historical_data">>;
  /** Absent if the team has none. */
  webhook_settings?: {
    host_status_webhook?: HostStatusWebhook | null;
    failing_policies_webhook: FailingPoliciesWebhook;
    /** Absent if it was never set. */
    failing_policies_mail?: FailingPoliciesMail;
    host_activities_webhook?: HostActivitiesWebhook | null;
  };
  /**
   * Absent if the team has none. Tickets use the entries of the global configuration with the same url and project or
   * group.
   */
  integrations?: TeamIntegrations;
  /** Absent if all are at their defaults. */
  mdm?: TeamMdm;
}

export const teams = table("teams", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  /** NFC, trimmed. */
  name: text().search(),
  /** The normalized name for uniqueness: NFC, lower case. */
  name_key: text().unique(),
  description: text().default(""),
  agent_options: json<AgentOptions>().nullable(),
  settings: json<TeamSettings>(),
});
