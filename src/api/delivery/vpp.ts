// Tokens of the license program of the app store.
import { z } from "zod";
import { multipart, smallFile } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Timestamp } from "../fields.ts";

export const VppToken = z.object({
  id: Id,
  org_name: z.string(),
  location: z.string(),
  country_code: z.string(),
  renew_date: Timestamp,
  terms_expired: z.boolean(),
  teams: z
    .array(z.object({ team_id: z.int().min(0), name: z.string() }))
    .nullable()
    .meta({
      description: "whose apps it licenses; empty: all teams, null: none. Team 0 is that of hosts without a team",
    }),
});
export type VppToken = z.infer<typeof VppToken>;
const One = z.object({ vpp_token: VppToken });

/** The file that the portal gives for download (.vpptoken). */
const TokenFile = multipart({}, { token: smallFile({ limit: 64 * 1024 }) });

const params = z.object({ id: IdParam });
const read = { action: "vpp:read", scope: "global" } as const;
const write = { action: "vpp:write", scope: "global" } as const;

export const vppApi = {
  add: endpoint({
    method: "POST",
    path: "/vpp_tokens",
    aliases: ["/mdm/vendora/vpp_token"],
    summary: "Add a token of the license program.",
    tier: "premium",
    access: write,
    body: TokenFile,
    response: One,
  }),
  list: endpoint({
    method: "GET",
    path: "/vpp_tokens",
    summary: "List the tokens of the license program.",
    tier: "premium",
    access: read,
    response: z.object({ vpp_tokens: z.array(VppToken) }),
  }),
  teams: endpoint({
    method: "PATCH",
    path: "/vpp_tokens/:id/teams",
    summary: "Set the teams whose apps a token licenses.",
    tier: "premium",
    access: write,
    params,
    body: z.object({
      team_ids: z
        .array(z.int().min(0))
        .max(10_000)
        .nullish()
        .meta({ description: "absent: all teams; 0: hosts without a team" }),
    }),
    response: One,
  }),
  renew: endpoint({
    method: "PATCH",
    path: "/vpp_tokens/:id/renew",
    summary: "Replace a token with a newer one for the same location.",
    tier: "premium",
    access: write,
    params,
    body: TokenFile,
    response: One,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/vpp_tokens/:id",
    summary: "Delete a token. Teams no longer offer the apps that it licenses.",
    tier: "premium",
    access: write,
    params,
    status: 204,
    response: Empty,
  }),
  deleteFirst: endpoint({
    method: "DELETE",
    path: "/mdm/vendora/vpp_token",
    summary: "Delete the only token of the license program.",
    tier: "premium",
    stability: "deprecated",
    access: write,
    status: 204,
    response: Empty,
  }),
};
