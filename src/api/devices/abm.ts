// The business portal: tokens that give access to an organization's devices, and what the portal knows of a host.
import { z } from "zod";
import { multipart, smallFile } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Ids, Timestamp } from "../fields.ts";

const Team = z.object({ id: Id, name: z.string() }).nullable();

export const AbmToken = z.object({
  id: Id,
  vendora_id: z.string().meta({ description: "address of the administrator who downloaded it" }),
  org_name: z.string(),
  mdm_server_url: z.string(),
  renew_date: Timestamp,
  terms_expired: z.boolean(),
  token_invalid: z.boolean(),
  macos_team: Team,
  ios_team: Team,
  ipados_team: Team,
  byod_team: Team,
});
export type AbmToken = z.infer<typeof AbmToken>;
const One = z.object({ abm_token: AbmToken });

/** The file that the portal gives for download (.p7m). */
const TokenFile = multipart({}, { token: smallFile({ limit: 64 * 1024 }) });

const TeamId = z.int().min(0).nullish().meta({ description: "absent, null or 0: no team" });

export const DepAssignment = z.object({
  id: Id,
  dep_device: z.boolean().meta({ description: "whether the portal assigns the host to this server" }),
  dep_device_error: z.boolean().meta({ description: "whether its profile could not be assigned" }),
  host_dep_assignment: z
    .object({
      assign_profile_response: z.string(),
      profile_uuid: z.string(),
      response_updated_at: Timestamp.nullable(),
      added_at: Timestamp,
      deleted_at: Timestamp.nullable(),
      abm_token_id: Id,
      mdm_migration_deadline: Timestamp.nullable(),
      mdm_migration_completed: Timestamp.nullable(),
    })
    .nullable(),
});
export type DepAssignment = z.infer<typeof DepAssignment>;

const params = z.object({ id: IdParam });
const read = { action: "abm:read", scope: "global" } as const;
const write = { action: "abm:write", scope: "global" } as const;

export const abmApi = {
  publicKey: endpoint({
    method: "GET",
    path: "/mdm/vendora/abm_public_key",
    summary: "Get the public key to upload to the business portal.",
    access: write,
    response: z.object({ public_key: z.string().meta({ description: "base64 of a PEM certificate" }) }),
  }),
  add: endpoint({
    method: "POST",
    path: "/abm_tokens",
    aliases: ["/ab_tokens"],
    summary: "Add a token of the business portal.",
    tier: "premium",
    access: write,
    body: TokenFile,
    response: One,
  }),
  renew: endpoint({
    method: "PATCH",
    path: "/abm_tokens/:id/renew",
    aliases: ["/ab_tokens/:id/renew"],
    summary: "Replace a token with a newer one for the same server in the portal.",
    tier: "premium",
    access: write,
    params,
    body: TokenFile,
    response: One,
  }),
  list: endpoint({
    method: "GET",
    path: "/abm_tokens",
    aliases: ["/ab_tokens"],
    summary: "List the tokens of the business portal.",
    tier: "premium",
    access: read,
    response: z.object({ abm_tokens: z.array(AbmToken) }),
  }),
  count: endpoint({
    method: "GET",
    path: "/abm_tokens/count",
    aliases: ["/ab_tokens/count"],
    summary: "Count the tokens of the business portal.",
    access: read,
    response: z.object({ count: z.int() }),
  }),
  teams: endpoint({
    method: "PATCH",
    path: "/abm_tokens/:id/teams",
    aliases: ["/ab_tokens/:id/teams"],
    summary: "Set the teams of new devices, by platform.",
    tier: "premium",
    access: write,
    params,
    body: z.object({ macos_team_id: TeamId, ios_team_id: TeamId, ipados_team_id: TeamId, byod_team_id: TeamId }),
    response: One,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/abm_tokens/:id",
    aliases: ["/ab_tokens/:id"],
    summary: "Delete a token. Hosts that have not enrolled yet are deleted with it.",
    tier: "premium",
    access: write,
    params,
    status: 204,
    response: Empty,
  }),
  businessManager: endpoint({
    method: "GET",
    path: "/mdm/vendora_bm",
    aliases: ["/abm"],
    summary: "Get the oldest token of the business portal.",
    tier: "premium",
    access: read,
    response: AbmToken.pick({ vendora_id: true, org_name: true, mdm_server_url: true, renew_date: true }).extend({
      default_team: z.string().meta({ description: "of Macs; empty: none" }),
    }),
  }),
  assignment: endpoint({
    method: "GET",
    path: "/hosts/:id/dep_assignment",
    summary: "Get what the business portal knows of a host.",
    tier: "premium",
    access: { action: "mdm:read", scope: "team" },
    params,
    response: DepAssignment,
  }),
  release: endpoint({
    method: "POST",
    path: "/hosts/release_ab",
    summary: "Release devices from the organization in the business portal. Cannot be undone.",
    tier: "premium",
    access: { action: "hosts:release", scope: "global" },
    body: z.object({ ids: Ids }),
    dryRun: "the devices would leave the organization in the portal",
    response: z.object({
      results: z.array(z.object({ host_id: Id, status: z.enum(["success", "failed"]), error: z.string() })),
    }),
  }),
};
