import { z } from "zod";
import { PROVES } from "../dry-run.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Timestamp } from "../fields.ts";
import { AvailableTeam, User } from "./users.ts";

export const Session = z.object({
  session_id: Id,
  user_id: Id,
  created_at: Timestamp,
  kind: z.enum(["session", "token"]).meta({ description: "token: an API token with a name" }),
  name: z.string().meta({ description: "of an API token; empty for sessions" }),
  accessed_at: Timestamp.meta({ description: "when it was last used, to the minute" }),
  expires_at: Timestamp.nullable().meta({ description: "when it expires if it is not used before; null: never" }),
  address: z.string().meta({ description: "address from which it was opened" }),
  user_agent: z.string(),
  current: z.boolean().meta({ description: "whether it is the caller's own" }),
});
export type Session = z.infer<typeof Session>;

/** The reply to a completed sign-in. */
export const LoginReply = z.object({ user: User, available_teams: z.array(AvailableTeam), token: z.string() });
export type LoginReply = z.infer<typeof LoginReply>;

const params = z.object({ id: IdParam });

export const sessionsApi = {
  login: endpoint({
    method: "POST",
    path: "/login",
    dryRun: PROVES,
    summary: "Sign in with email and password.",
    purpose: "sign-in",
    access: "none",
    body: z.object({
      email: z.string().max(255),
      password: z.string().max(1024),
      supports_email_verification: z.boolean().optional().meta({
        description: "whether the caller can continue with a mailed link (multi-factor authentication); default: true",
      }),
    }),
    bodyLimit: 16 * 1024,
    otherStatus: [202],
    response: z.union([LoginReply, z.object({ message: z.string() }).meta({ description: "202: a link was mailed" })]),
  }),
  create: endpoint({
    method: "POST",
    path: "/sessions",
    dryRun: PROVES,
    summary: "Complete a sign-in with the token of a mailed link.",
    purpose: "sign-in",
    access: "none",
    body: z.object({ token: z.string().max(512) }),
    bodyLimit: 16 * 1024,
    response: LoginReply,
  }),
  logout: endpoint({
    method: "POST",
    path: "/logout",
    summary: "End the session of the token that was used.",
    access: "reset",
    response: Empty,
  }),
  get: endpoint({
    method: "GET",
    path: "/sessions/:id",
    summary: "Get a session.",
    access: "user",
    params,
    response: Session,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/sessions/:id",
    summary: "End a session.",
    access: "user",
    params,
    response: Empty,
  }),
  listOfUser: endpoint({
    method: "GET",
    path: "/users/:id/sessions",
    summary: "List a user's sessions.",
    access: "user",
    params,
    response: z.object({ sessions: z.array(Session) }),
  }),
  deleteOfUser: endpoint({
    method: "DELETE",
    path: "/users/:id/sessions",
    summary: "End all sessions of a user.",
    access: "user",
    params,
    response: Empty,
  }),
};
