// Setup assistant profiles: what devices show that enroll automatically.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, nameText, QueryTeam, Timestamp } from "../fields.ts";

const Profile = z.record(z.string().max(255), z.json());

export const SetupAssistant = z.object({
  team_id: z.int().min(0).nullable().meta({ description: "null: hosts without a team" }),
  name: z.string(),
  uploaded_at: Timestamp,
  enrollment_profile: Profile,
});
export type SetupAssistant = z.infer<typeof SetupAssistant>;

export const SetSetupAssistant = z.object({
  team_id: z.int().min(0).nullish().meta({ description: "0, or absent: hosts without a team" }),
  name: nameText().min(1).meta({ description: "file name" }),
  enrollment_profile: Profile.meta({
    description:
      "as the business portal defines it; the server fills in url, configuration_web_url and await_device_configured",
  }),
});
export type SetSetupAssistant = z.output<typeof SetSetupAssistant>;

const query = z.object({
  team_id: QueryTeam.optional().meta({ description: "0, or absent: hosts without a team" }),
});
const aliases = ["/mdm/vendora/enrollment_profile"];

export const setupAssistantsApi = {
  set: endpoint({
    method: "POST",
    path: "/enrollment_profiles/automatic",
    aliases,
    summary: "Set the setup assistant profile of a team.",
    tier: "premium",
    access: { action: "setup:write", scope: "team" },
    body: SetSetupAssistant,
    response: SetupAssistant,
  }),
  get: endpoint({
    method: "GET",
    path: "/enrollment_profiles/automatic",
    aliases,
    summary: "Get the setup assistant profile of a team.",
    tier: "premium",
    access: { action: "setup:read", scope: "team" },
    query,
    response: SetupAssistant,
  }),
  getDefault: endpoint({
    method: "GET",
    path: "/enrollment_profiles/automatic/default",
    summary: "Get the setup assistant profile of teams that have none of their own.",
    tier: "premium",
    access: { action: "setup:read", scope: "team" },
    response: z.object({
      updated_at: Timestamp.nullable().meta({ description: "null before its first use" }),
      enrollment_profile: Profile,
    }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/enrollment_profiles/automatic",
    aliases,
    summary: "Delete the setup assistant profile of a team.",
    tier: "premium",
    access: { action: "setup:write", scope: "team" },
    query,
    status: 204,
    response: Empty,
  }),
};
