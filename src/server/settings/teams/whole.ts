import { z } from "zod";
import { HostExpiry, TeamFeatures } from "../../../api/settings/app-config.ts";
import type { Team, TeamSettingsChange } from "../../../api/settings/teams.ts";
import { TeamIntegrations, TeamMdm, TeamWebhooks } from "../../../api/settings/teams.ts";

export type WholeSettings = Pick<
  Team,
  "host_expiry_settings" | "features" | "webhook_settings" | "integrations" | "mdm"
>;

export type SettingsInput = TeamSettingsChange;

/** All settings of a team. Every field is required. */
export const WholeTeam = z.object({
  host_expiry_settings: HostExpiry,
  features: TeamFeatures,
  webhook_settings: TeamWebhooks,
  integrations: TeamIntegrations,
  mdm: TeamMdm,
});
