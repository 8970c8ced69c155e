import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { Empty, Id, IdParam, Timestamp } from "./fields.ts";
import { AvailableTeam, User } from "./users.ts";

export const Session = z.object({ session_id: Id, user_id: Id, created_at: Timestamp });
export type Session = z.infer<typeof Session>;

const params = z.object({ id: IdParam });

export const sessionsApi = {
  login: endpoint({
    method: "POST",
    path: "/login",
    summary: "Sign in with email and password.",
    access: "none",
    body: z.object({
      email: z.string().max(255),
      password: z.string().max(1024),
      supports_email_verification: z.boolean().optional(),
    }),
    bodyLimit: 16 * 1024,
    response: z.object({ user: User, available_teams: z.array(AvailableTeam), token: z.string() }),
  }),
  logout: endpoint({
    method: "POST",
    path: "/logout",
    summary: "End the session of the token that calls.",
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
