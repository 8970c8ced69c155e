// Configuration profiles: settings for devices, as files in the format of their platform.

import { z } from "zod";
import { Content, MiB, multipart, optionalSmallFile, smallFile } from "../bodies.ts";
import { PROVES } from "../dry-run.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Meta, nameText, paging, QueryFlag, QueryTeam, QueryText, Timestamp } from "../fields.ts";
import { LabelNames, ScopeLabel } from "../hosts/label-scope.ts";

/** Maximum size of one profile. */
export const PROFILE_MAX = 1.5 * MiB;
export const ACTIVATION_MAX = 64 * 1024;
const BATCH_MAX = 25 * MiB;

export const ProfilePlatform = z.enum(["darwin", "windows", "android"]);
export const ProfileStatus = z.enum(["verified", "verifying", "pending", "failed"]);
export type ProfileStatus = z.infer<typeof ProfileStatus>;

export const StatusCounts = z.object({
  verified: z.int(),
  verifying: z.int(),
  failed: z.int(),
  pending: z.int(),
});
export type StatusCounts = z.infer<typeof StatusCounts>;

export const ConfigurationProfile = z.object({
  profile_uuid: z.string(),
  team_id: z.int().nonnegative().meta({ description: "0 = no team" }),
  name: z.string(),
  platform: ProfilePlatform,
  identifier: z.string().optional().meta({ description: "of profiles for Apple devices: others have none" }),
  created_at: Timestamp,
  updated_at: Timestamp,
  uploaded_at: Timestamp,
  checksum: z.string().meta({ description: "SHA-256 of the content" }),
  activation: z.string().optional().meta({ description: "the declaration's own activation, as base64" }),
  labels: z.array(ScopeLabel).optional(),
  labels_include_all: z.array(ScopeLabel).optional(),
  labels_include_any: z.array(ScopeLabel).optional(),
  labels_exclude_any: z.array(ScopeLabel).optional(),
  host_counts: StatusCounts.optional().meta({ description: "hosts by status; only with populate_host_counts" }),
});
export type ConfigurationProfile = z.infer<typeof ConfigurationProfile>;

/** A host that has the profile, is about to get it, or is removing it. */
export const ProfileHost = z.object({
  id: Id,
  display_name: z.string(),
  hostname: z.string(),
  team_id: Id.nullable(),
  status: ProfileStatus,
  operation_type: z.enum(["install", "remove"]),
  detail: z.string().meta({ description: "why it has failed, as the device has reported it" }),
});
export type ProfileHost = z.infer<typeof ProfileHost>;

const labels = {
  labels: LabelNames.optional().meta({ description: "older name of labels_include_all" }),
  labels_include_all: LabelNames.optional(),
  labels_include_any: LabelNames.optional(),
  labels_exclude_any: LabelNames.optional(),
};

const base64 = z.string().max(Math.ceil(PROFILE_MAX * 1.4));
const BatchItem = z.strictObject({
  profile: base64.meta({ description: "the file, as base64" }),
  activation: base64.optional().meta({ description: "the declaration's own activation, as base64" }),
  display_name: nameText().optional().meta({ description: "the profile's name where the file contains none" }),
  name: nameText().optional().meta({ description: "older name of display_name" }),
  ...labels,
});
export type BatchItem = z.infer<typeof BatchItem>;
const BatchItems = z.array(BatchItem).max(10_000);

const activation = optionalSmallFile({ limit: ACTIVATION_MAX });
const params = z.object({ profile_uuid: z.string().min(1).max(255) });
const onHost = z.object({ id: IdParam, profile_uuid: z.string().min(1).max(255) });
const read = { action: "profiles:read", scope: "team" } as const;
const write = { action: "profiles:write", scope: "team" } as const;
const resend = { action: "profiles:resend", scope: "team" } as const;

export const profilesApi = {
  list: endpoint({
    method: "GET",
    path: "/mdm/profiles",
    aliases: ["/configuration_profiles", "/mdm/vendora/profiles"],
    summary: "List the configuration profiles of a team, or of hosts without a team.",
    access: read,
    query: paging("name", "created_at", "uploaded_at").extend({
      team_id: QueryTeam.optional(),
      populate_host_counts: QueryFlag.default(false).meta({ description: "count the hosts of each profile by status" }),
    }),
    response: z.object({ profiles: z.array(ConfigurationProfile), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/mdm/profiles/:profile_uuid",
    aliases: ["/configuration_profiles/:profile_uuid", "/mdm/vendora/profiles/:profile_uuid"],
    summary: "Show a configuration profile, or download its file.",
    access: read,
    params,
    query: z.object({ alt: z.enum(["media"]).optional().meta({ description: "media: the file" }) }),
    produces: "application/octet-stream",
    response: z.union([ConfigurationProfile, Content]),
  }),
  create: endpoint({
    method: "POST",
    path: "/configuration_profiles",
    aliases: ["/mdm/profiles", "/mdm/vendora/profiles"],
    summary: "Upload a configuration profile.",
    access: write,
    body: multipart(
      { team_id: QueryTeam.optional(), ...labels },
      { profile: smallFile({ limit: PROFILE_MAX }), activation },
    ),
    response: z.object({ profile_uuid: z.string() }),
  }),
  update: endpoint({
    method: "PATCH",
    path: "/configuration_profiles/:profile_uuid",
    aliases: ["/mdm/profiles/:profile_uuid"],
    summary: "Replace the file, the activation or the labels of a configuration profile.",
    tier: "premium",
    access: write,
    params,
    body: multipart(labels, { profile: optionalSmallFile({ limit: PROFILE_MAX }), activation }, { isJsonToo: true }),
    response: z.object({ profile_uuid: z.string() }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/mdm/profiles/:profile_uuid",
    aliases: ["/configuration_profiles/:profile_uuid", "/mdm/vendora/profiles/:profile_uuid"],
    summary: "Delete a configuration profile. Hosts remove it.",
    access: write,
    params,
    response: Empty,
  }),
  batch: endpoint({
    method: "POST",
    path: "/configuration_profiles/batch",
    aliases: ["/mdm/profiles/batch", "/mdm/vendora/profiles/batch"],
    summary: "Replace all configuration profiles of a team, or of hosts without a team.",
    access: write,
    query: z.object({
      team_id: QueryTeam.optional(),
      team_name: nameText().optional().meta({ premium: true, description: "instead of team_id (premium)" }),
      dry_run: QueryFlag.optional(),
    }),
    status: 204,
    bodyLimit: BATCH_MAX,
    body: z.strictObject({
      configuration_profiles: BatchItems.optional(),
      profiles: BatchItems.optional().meta({ description: "older name of configuration_profiles" }),
    }),
    response: Empty,
  }),
  summary: endpoint({
    method: "GET",
    path: "/mdm/profiles/summary",
    aliases: ["/configuration_profiles/summary", "/mdm/vendora/profiles/summary"],
    summary: "Count hosts by the status of their settings: profiles and disk encryption.",
    access: { action: "mdm:read", scope: "team" },
    query: z.object({ team_id: QueryTeam.optional() }),
    response: StatusCounts,
  }),
  status: endpoint({
    method: "GET",
    path: "/configuration_profiles/:profile_uuid/status",
    aliases: ["/mdm/profiles/:profile_uuid/status"],
    summary: "Count hosts by the status of a configuration profile.",
    access: read,
    params,
    response: StatusCounts,
  }),
  hosts: endpoint({
    method: "GET",
    path: "/configuration_profiles/:profile_uuid/hosts",
    aliases: ["/mdm/profiles/:profile_uuid/hosts"],
    summary: "List the hosts of a configuration profile, with its status on each and why it has failed.",
    access: read,
    params,
    query: paging("display_name", "hostname", "status").extend({
      status: ProfileStatus.optional(),
      query: QueryText.optional().meta({ description: "a part of the host's name" }),
    }),
    response: z.object({ hosts: z.array(ProfileHost), meta: Meta }),
  }),
  resend: endpoint({
    method: "POST",
    path: "/hosts/:id/configuration_profiles/:profile_uuid/resend",
    aliases: ["/hosts/:id/configuration_profiles/resend/:profile_uuid"],
    summary: "Send a configuration profile to a host again.",
    access: resend,
    params: onHost,
    status: 202,
    response: Empty,
  }),
  resendBatch: endpoint({
    method: "POST",
    path: "/configuration_profiles/resend/batch",
    aliases: ["/mdm/profiles/resend/batch"],
    summary: "Send a configuration profile again to all hosts on which it has failed.",
    access: resend,
    body: z.object({
      profile_uuid: z.string().min(1).max(255),
      filters: z.object({ profile_status: z.literal("failed") }),
    }),
    status: 202,
    response: Empty,
  }),
};

export const deviceProfilesApi = {
  resendProfile: endpoint({
    method: "POST",
    path: "/device/:token/configuration_profiles/:profile_uuid/resend",
    dryRun: PROVES,
    summary: "Send a configuration profile to a host again, from its own page.",
    access: "none",
    params: z.object({ token: z.string().min(1), profile_uuid: z.string().min(1).max(255) }),
    status: 202,
    response: Empty,
  }),
};
