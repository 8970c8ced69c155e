import { z } from "zod";
import { Id, Timestamp } from "../fields.ts";
import { hostFieldNames, hostSchemas } from "./host-fields.ts";
import { HostMdm } from "./host-mdm.ts";
import { HostSoftwareEntry } from "./host-software.ts";
import { Label } from "./label.ts";

/** A policy as shown in a host. */
export const HostPolicy = z.object({
  id: Id,
  name: z.string(),
  query: z.string(),
  description: z.string(),
  resolution: z.string(),
  platform: z.string(),
  response: z.enum(["pass", "fail", ""]),
  error: z.string().nullable().meta({ description: "why the host's agent could not run it; null: it could" }),
  critical: z.boolean(),
  author_id: Id.nullable(),
  author_name: z.string(),
  author_email: z.string(),
  team_id: z.int().min(0).nullable(),
  conditional_access_enabled: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type HostPolicy = z.infer<typeof HostPolicy>;

export const HostUser = z.object({
  uid: z.int(),
  username: z.string(),
  type: z.string(),
  groupname: z.string(),
  shell: z.string(),
});
export type HostUser = z.infer<typeof HostUser>;
export const Battery = z.object({ cycle_count: z.int(), health: z.string() });
export type Battery = z.infer<typeof Battery>;
export const HostGeolocation = z.object({
  country_iso: z.string(),
  city_name: z.string(),
  geometry: z
    .object({ type: z.literal("Point"), coordinates: z.array(z.number()).length(2) })
    .optional()
    .meta({ description: "longitude, latitude" }),
});
export type HostGeolocation = z.infer<typeof HostGeolocation>;
export const DeviceMapping = z.object({ email: z.string(), source: z.string() });
export type DeviceMapping = z.infer<typeof DeviceMapping>;
const EndUser = z.object({
  idp_info_updated_at: Timestamp.nullable(),
  idp_id: z.string(),
  idp_username: z.string(),
  idp_full_name: z.string(),
  idp_department: z.string(),
  idp_groups: z.array(z.string()),
  other_emails: z.array(DeviceMapping),
});
const HostQueryStats = z.object({
  scheduled_query_name: z.string(),
  scheduled_query_id: Id.nullable().meta({ description: "null: no query has this name any more" }),
  query_name: z.string(),
  description: z.string(),
  pack_name: z.string(),
  pack_id: Id.nullable(),
  automations_enabled: z.boolean(),
  discard_data: z.boolean(),
  last_fetched: Timestamp.nullable().meta({
    description: "when the query's report last received results from this host",
  }),
  average_memory: z.number(),
  denylisted: z.boolean(),
  executions: z.number(),
  interval: z.number(),
  last_executed: Timestamp.nullable(),
  output_size: z.number(),
  system_time: z.number(),
  user_time: z.number(),
  wall_time: z.number().meta({ description: "milliseconds" }),
});
export const HostPackStats = z.object({
  pack_id: Id.nullable(),
  pack_name: z.string(),
  type: z.string().meta({ description: "global, team-<id>, or empty for a pack of its own" }),
  query_stats: z.array(HostQueryStats),
});
export type HostPackStats = z.infer<typeof HostPackStats>;
const Named = z.object({ id: Id, name: z.string() });
export const HostPack = z.object({
  id: Id,
  name: z.string(),
  description: z.string(),
  platform: z.string(),
  disabled: z.boolean(),
  type: z.string().nullable(),
  labels: z.array(Named),
  label_ids: z.array(Id),
  hosts: z.array(Named).meta({ description: "this host, if it is targeted directly" }),
  host_ids: z.array(Id),
  teams: z.array(Named).meta({ description: "the host's team, if it is targeted" }),
  team_ids: z.array(Id),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type HostPack = z.infer<typeof HostPack>;

export const Host = z.object({
  ...hostSchemas,
  additional: z.record(z.string(), z.json()).optional(),
  issues: z.object({
    failing_policies_count: z.int(),
    total_issues_count: z.int(),
    critical_vulnerabilities_count: z.int().optional().meta({ description: "premium" }),
  }),
  pack_stats: z.array(HostPackStats).nullable().meta({ description: "one host; null in lists" }),
  batteries: z.array(Battery).optional(),
  agent_conflict: z
    .object({ detected_at: Timestamp, address: z.string().meta({ description: "of the other machine" }) })
    .optional()
    .meta({ description: "one host, whose agent was copied to another machine within the last 30 days" }),
  geolocation: HostGeolocation.optional().meta({ description: "one host, where a geo-IP database is configured" }),
  maintenance_window: z
    .object({
      starts_at: z.string().meta({ description: "with the offset of the time zone" }),
      timezone: z.string().nullable().meta({ description: "IANA name" }),
    })
    .nullable()
    .optional()
    .meta({ description: "one host: the event in its user's calendar, until it is over (premium)" }),
  users: z.array(HostUser).optional(),
  end_users: z.array(EndUser).optional(),
  device_mapping: z.array(DeviceMapping).optional().meta({ description: "lists, with device_mapping=true" }),
  labels: z.array(Label).optional(),
  packs: z.array(HostPack).optional(),
  policies: z.array(HostPolicy).optional(),
  software: z.array(HostSoftwareEntry).optional(),
  mdm: HostMdm,
});
export type Host = z.infer<typeof Host>;

/** The fields that a list can be limited to. Besides these, single hosts have parts that lists do not have. */
export const listedHostFields = [
  ...hostFieldNames,
  "mdm",
  "issues",
  "users",
  "device_mapping",
  "labels",
  "policies",
  "software",
] as const satisfies readonly (keyof Host)[];
export type ListedHostField = (typeof listedHostFields)[number];

/**
 * A host in a list: whole, or with the requested fields and the id only. The type is that of a whole host, because a
 * caller that sends `fields` is the one who has to expect less.
 */
export const ListedHost = Host.partial().extend({ id: Id }) as unknown as typeof Host;
