// Settings of what happens on a device before its user can use it.
import { z } from "zod";
import { SetupSwitches } from "./app-config.ts";
import { endpoint } from "./endpoint.ts";
import { Empty } from "./fields.ts";

const team_id = z.int().min(0).nullish().meta({ description: "0, or absent: hosts without a team" });
const write = { action: "setup:write", scope: "team" } as const;

export const setupExperienceApi = {
  change: endpoint({
    method: "PATCH",
    path: "/setup_experience",
    aliases: ["/mdm/vendora/setup"],
    summary: "Change the settings of the setup of a team's hosts, or of hosts without a team.",
    tier: "premium",
    access: write,
    body: SetupSwitches.partial().extend({ team_id }),
    status: 204,
    response: Empty,
  }),
  localAccount: endpoint({
    method: "POST",
    path: "/managed_local_account",
    summary: "Set whether Macs get a managed local account, and what their users' own account may do.",
    tier: "premium",
    access: write,
    body: SetupSwitches.pick({ enable_managed_local_account: true, end_user_local_account_type: true })
      .partial()
      .extend({ team_id }),
    status: 204,
    response: Empty,
  }),
};
