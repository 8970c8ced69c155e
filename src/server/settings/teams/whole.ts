import { z } from "zod";
import { Features, HostExpiry } from "../../../api/settings/app-config.ts";
import { TeamIntegrations, TeamMdm, TeamWebhooks } from "../../../api/settings/teams.ts";

/** All settings of a team. Every field is required. */
export const WholeTeam = z.object({
  host_expiry_settings: HostExpiry,
  features: Features,
  webhook_settings: TeamWebhooks,
  integrations: TeamIntegrations,
  mdm: TeamMdm,
});
