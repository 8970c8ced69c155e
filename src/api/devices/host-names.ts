// Names of hosts: the template of a team, and hosts that are to get their name again.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, IdParam } from "../fields.ts";
import { NameTemplate } from "../settings/os-settings.ts";

export const hostNamesApi = {
  setTemplate: endpoint({
    method: "POST",
    path: "/host_name_template",
    summary: "Set how the Apple devices of a team are called, or those without a team.",
    tier: "premium",
    access: { action: "setup:write", scope: "team" },
    body: z.object({
      team_id: z.int().min(0).nullish().meta({ description: "0, or absent: hosts without a team" }),
      name_template: NameTemplate,
    }),
    status: 204,
    response: Empty,
  }),
  resend: endpoint({
    method: "POST",
    path: "/hosts/:id/name_template/resend",
    summary: "Send a host its name again, after it was verified or has failed.",
    tier: "premium",
    access: { action: "profiles:resend", scope: "team" },
    params: z.object({ id: IdParam }),
    status: 202,
    response: Empty,
  }),
};
