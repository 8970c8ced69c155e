import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, QueryFlag, Timestamp } from "../fields.ts";

export const EnrollSecret = z.object({
  secret: z.string(),
  created_at: Timestamp,
  team_id: Id.optional(),
  expires_at: Timestamp.optional().meta({ description: "absent if the secret is valid until it is removed" }),
});
export type EnrollSecret = z.infer<typeof EnrollSecret>;

/** The real limit is 50: the service checks it, with a message that names it. */
export const SecretList = z.array(z.object({ secret: z.string().max(255) })).max(1000);

/** Secrets for endpoints that change nothing else. */
const ExpiringSecretList = z
  .array(
    z.object({
      secret: z.string().max(255),
      expires_at: z.iso
        .datetime({ offset: true })
        .nullable()
        .optional()
        .meta({ description: "until when hosts can enroll with it: null for ever, absent leaves it unchanged" }),
    }),
  )
  .max(1000);

const params = z.object({ id: IdParam });

export const enrollSecretsApi = {
  getGlobal: endpoint({
    method: "GET",
    path: "/spec/enroll_secret",
    reveals: true,
    summary: "Get the global enroll secrets.",
    access: { action: "enroll_secrets:read", scope: "global" },
    response: z.object({ spec: z.object({ secrets: z.array(EnrollSecret) }) }),
  }),
  setGlobal: endpoint({
    method: "POST",
    path: "/spec/enroll_secret",
    summary: "Replace the global enroll secrets; an empty list deletes all.",
    access: { action: "enroll_secrets:write", scope: "global" },
    query: z.object({ dry_run: QueryFlag.default(false) }),
    body: z.object({ spec: z.object({ secrets: ExpiringSecretList }) }),
    response: Empty,
  }),
  getTeam: endpoint({
    method: "GET",
    path: "/teams/:id/secrets",
    reveals: true,
    summary: "Get a team's enroll secrets.",
    tier: "premium",
    access: { action: "enroll_secrets:read", scope: "team" },
    params,
    response: z.object({ secrets: z.array(EnrollSecret) }),
  }),
  setTeam: endpoint({
    method: "PATCH",
    path: "/teams/:id/secrets",
    summary: "Replace a team's enroll secrets; an empty list deletes all.",
    tier: "premium",
    access: { action: "enroll_secrets:write", scope: "team" },
    params,
    body: z.object({ secrets: ExpiringSecretList }),
    response: z.object({
      secrets: z.array(EnrollSecret).nullable().meta({ description: "null if there are no secrets" }),
    }),
  }),
};
