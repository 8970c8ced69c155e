// Asset declarations: what declarations of Apple devices refer to, such as credentials and files.
import { z } from "zod";
import { Content, multipart, smallFile } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, QueryTeam, Timestamp } from "../fields.ts";
import { PROFILE_MAX } from "./profiles.ts";

export const Asset = z.object({
  asset_uuid: z.string(),
  asset: z.string().meta({ description: "name of the file" }),
  identifier: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  checksum: z.string().meta({ description: "SHA-256 of the content" }),
});
export type Asset = z.infer<typeof Asset>;

export const AssetOfTeam = Asset.extend({ team_id: z.int().nonnegative().meta({ description: "0 = no team" }) });

const params = z.object({ asset_uuid: z.string().min(1).max(255) });
const read = { action: "profiles:read", scope: "team" } as const;
const write = { action: "profiles:write", scope: "team" } as const;

export const assetsApi = {
  list: endpoint({
    method: "GET",
    path: "/assets",
    summary: "List the asset declarations of a team, or of hosts without a team.",
    access: read,
    query: z.object({ team_id: QueryTeam.optional() }),
    response: z.object({ assets: z.array(Asset) }),
  }),
  get: endpoint({
    method: "GET",
    path: "/assets/:asset_uuid",
    summary: "Show an asset declaration, or download its file.",
    access: read,
    params,
    query: z.object({ alt: z.enum(["media"]).optional().meta({ description: "media: the file" }) }),
    produces: "application/octet-stream",
    response: z.union([AssetOfTeam, Content]),
  }),
  create: endpoint({
    method: "POST",
    path: "/assets",
    summary: "Upload an asset declaration. Devices get it with the profiles that refer to it.",
    access: write,
    body: multipart({ team_id: QueryTeam.optional() }, { asset: smallFile({ limit: PROFILE_MAX }) }),
    response: z.object({ asset_uuid: z.string() }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/assets/:asset_uuid",
    summary: "Delete an asset declaration to which no profile refers.",
    access: write,
    params,
    status: 204,
    response: Empty,
  }),
};
