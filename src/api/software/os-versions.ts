import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, Meta, pagingAfter, QueryInt, QueryTeam, Timestamp } from "../fields.ts";
import { Vulnerability } from "../hosts/host-software.ts";
import { importTime } from "./software.ts";

const platforms = ["darwin", "windows", "linux", "chrome", "ios", "ipados", "android"] as const;
export type OsPlatform = (typeof platforms)[number];

/** A release of an operating system that hosts run. */
export const OsVersion = z.object({
  os_version_id: Id,
  hosts_count: z.int(),
  name: z.string().meta({ description: "with the version, such as Ubuntu 24.04.1 LTS" }),
  name_only: z.string(),
  version: z.string(),
  platform: z.string(),
  generated_cpes: z.array(z.string()),
  vulnerabilities: z.array(Vulnerability),
  vulnerabilities_count: z.int(),
});
export type OsVersion = z.infer<typeof OsVersion>;

export const OsVersionDetails = OsVersion.extend({
  kernels: z
    .array(z.object({ id: Id, version: z.string(), vulnerabilities: z.array(z.string()), hosts_count: z.int() }))
    .optional()
    .meta({ description: "Linux only" }),
});
export type OsVersionDetails = z.infer<typeof OsVersionDetails>;

const read = { action: "software:list", scope: "team" } as const;
const shared = {
  team_id: QueryTeam.optional(),
  max_vulnerabilities: QueryInt.optional().meta({ description: "list at most this many vulnerabilities" }),
};

export const osVersionsApi = {
  list: endpoint({
    method: "GET",
    path: "/os_versions",
    summary: "List operating system versions, with the number of hosts that run them.",
    access: read,
    query: pagingAfter("hosts_count").extend({
      ...shared,
      platform: z.enum(platforms).optional(),
      os_name: z.string().max(255).optional().meta({ description: "needs os_version" }),
      os_version: z.string().max(255).optional().meta({ description: "needs os_name" }),
    }),
    response: z.object({
      count: z.int(),
      counts_updated_at: Timestamp.nullable(),
      os_versions: z.array(OsVersion),
      ...importTime,
      meta: Meta,
    }),
  }),
  get: endpoint({
    method: "GET",
    path: "/os_versions/:id",
    summary: "Show an operating system version; on Linux, with its kernels.",
    access: read,
    params: z.object({ id: IdParam }),
    query: z.object(shared),
    response: z.object({ counts_updated_at: Timestamp.nullable(), os_version: OsVersionDetails, ...importTime }),
  }),
};
