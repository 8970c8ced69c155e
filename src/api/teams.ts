import { z } from "zod";
import { AgentOptions, HostExpiry } from "./app-config.ts";
import { endpoint } from "./endpoint.ts";
import { EnrollSecret, SecretList } from "./enroll-secrets.ts";
import { Empty, Id, IdParam, Meta, paging, QueryFlag, QueryText, Timestamp } from "./fields.ts";
import { RoleName, TeamRole, User } from "./users.ts";

export const Team = z.object({
  id: Id,
  created_at: Timestamp,
  name: z.string(),
  description: z.string(),
  agent_options: AgentOptions.nullable(),
  host_expiry_settings: HostExpiry,
  features: z.object({
    enable_host_users: z.boolean(),
    enable_software_inventory: z.boolean(),
    additional_queries: z.record(z.string(), z.string()).nullable(),
  }),
  user_count: z.int(),
  host_count: z.int(),
  users: z.array(User.extend({ role: RoleName })).optional(),
  secrets: z.array(EnrollSecret).optional().meta({ description: "masked for roles without secret access" }),
});
export type Team = z.infer<typeof Team>;

const teamFields = {
  description: z.string().max(4096).optional(),
  secrets: SecretList.optional(),
  host_expiry_settings: HostExpiry.partial().optional(),
};
const name = z.string().max(255);
const params = z.object({ id: IdParam });
const usersReply = z.object({ team: Team });

export const teamsApi = {
  list: endpoint({
    method: "GET",
    path: "/teams",
    summary: "List teams.",
    tier: "premium",
    access: { action: "teams:list", scope: "team" },
    query: paging("id", "name", "created_at").extend({ query: QueryText.optional() }),
    response: z.object({ teams: z.array(Team), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/teams/:id",
    summary: "Get a team.",
    tier: "premium",
    access: { action: "teams:list", scope: "team" },
    params,
    response: z.object({ team: Team }),
  }),
  create: endpoint({
    method: "POST",
    path: "/teams",
    summary: "Create a team.",
    tier: "premium",
    access: { action: "teams:create", scope: "global" },
    body: z.object({ name, ...teamFields }),
    response: z.object({ team: Team }),
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/teams/:id",
    summary: "Change a team.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    params,
    body: z.object({ name: name.optional(), ...teamFields }),
    response: z.object({ team: Team }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/teams/:id",
    summary: "Delete a team; its hosts stay, with no team.",
    tier: "premium",
    access: { action: "teams:delete", scope: "global" },
    params,
    response: Empty,
  }),
  users: endpoint({
    method: "GET",
    path: "/teams/:id/users",
    summary: "List a team's users.",
    tier: "premium",
    access: { action: "users:list", scope: "team" },
    params,
    query: paging("id", "name", "email", "created_at", "updated_at").extend({ query: QueryText.optional() }),
    response: z.object({ users: z.array(User), meta: Meta }),
  }),
  addUsers: endpoint({
    method: "PATCH",
    path: "/teams/:id/users",
    summary: "Add users to a team, or change their role on it.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    params,
    body: z.object({ users: z.array(TeamRole).max(1000) }),
    response: usersReply,
  }),
  removeUsers: endpoint({
    method: "DELETE",
    path: "/teams/:id/users",
    summary: "Remove users from a team.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    params,
    body: z.object({ users: z.array(z.object({ id: Id })).max(1000) }),
    response: usersReply,
  }),
  agentOptions: endpoint({
    method: "POST",
    path: "/teams/:id/agent_options",
    summary: "Replace a team's agent options.",
    tier: "premium",
    access: { action: "teams:edit", scope: "team" },
    params,
    query: z.object({ force: QueryFlag.default(false), dry_run: QueryFlag.default(false) }),
    body: z.unknown(),
    strict: true,
    response: z.object({ team: Team }),
  }),
};
