import { z } from "zod";
import { roles } from "../access.ts";
import { PROVES } from "../dry-run.ts";
import { endpoint } from "../endpoint.ts";
import {
  Email,
  Empty,
  Id,
  IdParam,
  isOneLine,
  Meta,
  NOT_ONE_LINE,
  paging,
  QueryFlag,
  QueryTeam,
  QueryText,
  Timestamp,
} from "../fields.ts";
import { SettingsChange, UserSettings } from "./user-settings.ts";

export const RoleName = z.enum(roles);
export const TeamRole = z.object({ id: Id, role: z.string() });

/** A team as shown in the user object. */
export const UserTeam = z.object({
  id: Id,
  created_at: Timestamp,
  name: z.string(),
  description: z.string(),
  role: RoleName,
});

export const User = z.object({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: z.string(),
  email: z.string(),
  enabled: z.boolean(),
  force_password_reset: z.boolean(),
  gravatar_url: z.string(),
  sso_enabled: z.boolean(),
  mfa_enabled: z.boolean(),
  api_only: z.boolean(),
  position: z.string().optional().meta({ description: "absent if empty" }),
  global_role: RoleName.nullable(),
  teams: z.array(UserTeam).meta({ description: "empty for global users" }),
});
export type User = z.infer<typeof User>;

export const AvailableTeam = z.object({ id: Id, name: z.string(), description: z.string() });
const UserReply = z.object({
  user: User,
  available_teams: z.array(AvailableTeam),
  settings: UserSettings.optional(),
});

// Only lengths are checked here: the service checks combinations of roles (with messages and codes of the error
// catalogue).
const name = z.string().trim().min(1).max(255).refine(isOneLine, { error: NOT_ONE_LINE });
const password = z.string().max(1024);
const roleFields = {
  global_role: z.string().max(32).nullable().optional(),
  teams: z.array(TeamRole).max(1000).optional(),
};
const userFields = {
  position: z.string().max(255).optional(),
  gravatar_url: z.string().max(2048).optional(),
  sso_enabled: z.boolean().optional(),
  mfa_enabled: z.boolean().optional(),
  api_only: z.boolean().optional(),
};

export const CreateUser = z.object({
  name,
  email: Email,
  password: password.optional(),
  ...userFields,
  ...roleFields,
  admin_forced_password_reset: z.boolean().default(true),
});
export type CreateUser = z.output<typeof CreateUser>;

export const ModifyUser = z.object({
  name: name.optional(),
  email: Email.optional(),
  ...userFields,
  password: password.optional().meta({ description: "current password: needed to change one's own email or password" }),
  new_password: password.optional(),
  ...roleFields,
  settings: SettingsChange.optional(),
});
export type ModifyUser = z.output<typeof ModifyUser>;

export const RolesSpec = z.object({
  roles: z
    .record(
      z.string().max(255),
      z.object({
        global_role: roleFields.global_role,
        teams: z
          .array(z.object({ team: z.string().min(1).max(255), role: z.string().max(32) }))
          .max(1000)
          .nullable()
          .optional()
          .meta({ description: "teams by name" }),
      }),
    )
    .refine((roles) => Object.keys(roles).length <= 1000, { error: "at most 1000 users" })
    .meta({ description: "by email" }),
});
export type RolesSpec = z.output<typeof RolesSpec>;

const params = z.object({ id: IdParam });
const uiSettings = z.object({ include_ui_settings: QueryFlag.default(false) });

export const usersApi = {
  list: endpoint({
    method: "GET",
    path: "/users",
    summary: "List users.",
    access: { action: "users:list", scope: "team" },
    query: paging("id", "name", "email", "created_at", "updated_at").extend({
      query: QueryText.optional().meta({ description: "searches name and email" }),
      team_id: QueryTeam.optional(),
    }),
    response: z.object({ users: z.array(User), meta: Meta }),
  }),
  create: endpoint({
    method: "POST",
    path: "/users/admin",
    summary: "Create a user.",
    access: { action: "users:write", scope: "team" },
    body: CreateUser,
    response: z.object({
      user: User,
      token: z.string().optional().meta({ description: "only for API-only users; returned only once" }),
    }),
  }),
  get: endpoint({
    method: "GET",
    path: "/users/:id",
    summary: "Get a user.",
    access: "user",
    params,
    query: uiSettings,
    response: UserReply,
  }),
  me: endpoint({
    method: "GET",
    path: "/me",
    summary: "Get the signed-in user.",
    access: "user",
    query: uiSettings,
    response: UserReply.extend({
      token: z
        .object({ name: z.string(), endpoints: z.array(z.string()).nullable() })
        .optional()
        .meta({ description: "the API token that was used, if it is a named one" }),
    }),
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/users/:id",
    summary: "Change a user.",
    access: "user",
    params,
    body: ModifyUser,
    response: z.object({ user: User }),
  }),
  applyRoles: endpoint({
    method: "POST",
    path: "/users/roles/spec",
    summary: "Set the roles of users by email in one transaction.",
    access: { action: "users:write", scope: "team" },
    body: z.object({ spec: RolesSpec }),
    response: Empty,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/users/:id",
    summary: "Delete a user.",
    access: { action: "users:write", scope: "team" },
    params,
    response: Empty,
  }),
  requirePasswordReset: endpoint({
    method: "POST",
    path: "/users/:id/require_password_reset",
    summary: "Require a user to choose a new password, and end their sessions.",
    access: { action: "users:write", scope: "team" },
    params,
    body: z.object({ require: z.boolean() }),
    response: z.object({ user: User }),
  }),
  changePassword: endpoint({
    method: "POST",
    path: "/change_password",
    dryRun: PROVES,
    summary: "Change your own password.",
    access: "user",
    body: z.object({ old_password: password, new_password: password }),
    response: Empty,
  }),
  performRequiredPasswordReset: endpoint({
    method: "POST",
    path: "/perform_required_password_reset",
    summary: "Choose a new password when a reset is required.",
    access: "reset",
    body: z.object({ new_password: password }),
    response: z.object({ user: User }),
  }),
};
