import { z } from "zod";
import { PROVES } from "../dry-run.ts";
import { endpoint } from "../endpoint.ts";
import { Email, Empty, Id, IdParam, isOneLine, Meta, NOT_ONE_LINE, paging, QueryText, Timestamp } from "../fields.ts";
import { RoleName, TeamRole, User, UserTeam } from "./users.ts";

export const Invite = z.object({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  invited_by: Id.nullable().meta({ description: "null: that user was deleted" }),
  email: z.string(),
  name: z.string(),
  position: z.string(),
  sso_enabled: z.boolean(),
  mfa_enabled: z.boolean(),
  global_role: RoleName.nullable(),
  teams: z.array(UserTeam),
});
export type Invite = z.infer<typeof Invite>;

const name = z.string().trim().min(1).max(255).refine(isOneLine, { error: NOT_ONE_LINE });
const fields = {
  position: z.string().max(255).optional(),
  sso_enabled: z.boolean().optional(),
  mfa_enabled: z.boolean().optional(),
  global_role: z.string().max(32).nullable().optional(),
  teams: z.array(TeamRole).max(1000).optional(),
};

export const CreateInvite = z.object({ email: Email, name, ...fields });
export type CreateInvite = z.output<typeof CreateInvite>;
export const ModifyInvite = z.object({ email: Email.optional(), name: name.optional(), ...fields });
export type ModifyInvite = z.output<typeof ModifyInvite>;

export const AcceptInvite = z.object({
  email: Email,
  name,
  invite_token: z.string().min(1).max(512),
  password: z.string().max(1024).optional(),
  password_confirmation: z.string().max(1024).optional().meta({ description: "ignored" }),
  sso_invite: z.boolean().optional(),
});
export type AcceptInvite = z.output<typeof AcceptInvite>;

/** An invite whose link is sent. */
const Invited = z.object({
  invite: Invite,
  link: z.string().optional().meta({ description: "link to pass on if the server sends no mail; shown only once" }),
});

const access = { action: "invites:write", scope: "global" } as const;
const params = z.object({ id: IdParam });

export const invitesApi = {
  list: endpoint({
    method: "GET",
    path: "/invites",
    summary: "List invites.",
    access,
    query: paging("id", "name", "email", "created_at", "updated_at").extend({
      query: QueryText.optional().meta({ description: "searches name and email" }),
    }),
    response: z.object({ invites: z.array(Invite), meta: Meta }),
  }),
  create: endpoint({
    method: "POST",
    path: "/invites",
    summary: "Invite someone by email.",
    access,
    body: CreateInvite,
    response: Invited,
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/invites/:id",
    summary: "Change an invite; a new address gets a new link, and the old link becomes invalid.",
    access,
    params,
    body: ModifyInvite,
    response: Invited,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/invites/:id",
    summary: "Withdraw an invite.",
    access,
    params,
    response: Empty,
  }),
  show: endpoint({
    method: "GET",
    path: "/invites/:token",
    summary: "Show the invite that a mailed token belongs to.",
    access: "none",
    params: z.object({ token: z.string().min(1).max(512) }),
    response: z.object({ invite: Invite }),
  }),
  accept: endpoint({
    method: "POST",
    path: "/users",
    dryRun: PROVES,
    summary: "Accept an invite: create the account that it offers.",
    access: "none",
    body: AcceptInvite,
    bodyLimit: 64 * 1024,
    response: z.object({ user: User }),
  }),
};
